"""The glossaries of workspaces: what colleagues say, and what the documents say instead."""
