"""Deletes what retired workspaces held."""

import sqlite3

# Tables of a retired workspace, children first, with what selects its rows through an index.
_OWNED = (
    ("windows", "space_key IN (SELECT id FROM spaces WHERE workspace_id = :id)"),
    ("vectors", "space_key IN (SELECT id FROM spaces WHERE workspace_id = :id)"),
    ("passages", "workspace_id = :id"),
    ("documents", "workspace_id = :id"),
    ("spaces", "workspace_id = :id"),
)


def purge_retired_rows(connection: sqlite3.Connection, row_limit: int) -> bool:
    """Deletes up to `row_limit` rows of retired workspaces; returns whether any were left to do.

    Small steps keep the write-ahead log and the pause of other writers short.
    """
    retired = connection.execute("SELECT id FROM workspaces WHERE slug IS NULL LIMIT 1").fetchone()
    if retired is None:
        return False
    chosen = {"id": retired[0], "limit": row_limit}
    for table, condition in _OWNED:
        deleted = connection.execute(
            f"DELETE FROM {table} "
            f"WHERE id IN (SELECT id FROM {table} WHERE {condition} LIMIT :limit)",
            chosen,
        )
        if deleted.rowcount:
            return True
    connection.execute("DELETE FROM removals WHERE workspace_id = :id", chosen)
    connection.execute("DELETE FROM deleted_content WHERE workspace_id = :id", chosen)
    connection.execute("DELETE FROM workspaces WHERE id = :id", chosen)
    return True
