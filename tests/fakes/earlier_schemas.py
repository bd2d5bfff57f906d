"""Stores as earlier builds left them: the columns of later schema versions are taken away."""

import sqlite3

_COLUMNS_ADDED = {
    "0002": (("spaces", "canary"), ("spaces", "stray_count")),
    "0003": (("workspaces", "fusion"),),
}


def set_back(connection: sqlite3.Connection, version: str) -> None:
    """Makes the store one of this schema version; the rows stay."""
    for later, columns in _COLUMNS_ADDED.items():
        if later > version:
            for table, column in columns:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
