"""Passages as a block of numbered sources for a chat model's prompt."""
