"""Stores as earlier builds left them: columns and tables of later versions are taken away."""

import sqlite3

_COLUMNS_ADDED = {
    "0002": (("spaces", "canary"), ("spaces", "stray_count")),
    "0003": (("workspaces", "fusion"),),
    "0005": (
        ("passages", "parent_first"),
        ("passages", "parent_count"),
        ("passages", "parent_gap"),
        ("workspaces", "child_token_count"),
    ),
    "0006": (("passages", "cuts_token"), ("vectors", "sliced")),
}
_TABLES_ADDED = {"0004": ("deleted_content",)}


def set_back(connection: sqlite3.Connection, version: str) -> None:
    """Makes the store one of this schema version; the rows stay."""
    for later, columns in _COLUMNS_ADDED.items():
        if later > version:
            for table, column in columns:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    for later, tables in _TABLES_ADDED.items():
        if later > version:
            for table in tables:
                connection.execute(f"DROP TABLE {table}")
    connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
