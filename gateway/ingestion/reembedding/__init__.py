"""Embeds whole workspaces into another space."""
