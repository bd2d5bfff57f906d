"""Turns a colleague's question into a query that finds."""
