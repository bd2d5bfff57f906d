"""Workspaces as files."""
