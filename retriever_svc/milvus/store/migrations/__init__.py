"""Migrations of the store in PostgreSQL."""
