"""The dense indexes: one per workspace and space, exact while small, a graph when large."""
