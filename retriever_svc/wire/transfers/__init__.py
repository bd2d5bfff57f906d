"""Workspaces as streams of records."""
