"""Workspaces on their way from one engine to another, or to a file and back."""
