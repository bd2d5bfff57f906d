"""Notes since when bytes of deleted content may lie in the files of a workspace.

A note is written with the deletion itself, so it is as durable. While a purge runs, deletions
that come meanwhile have a note of their own.
"""

import sqlite3
from datetime import datetime

from retriever_svc.store.moments import microseconds_from, moment_from


def note_deletion(connection: sqlite3.Connection, workspace_id: int, now: datetime) -> None:
    """Notes a deletion; an earlier note that no purge has begun on stays as it is."""
    connection.execute(
        "INSERT OR IGNORE INTO deleted_content (workspace_id, purging, since) VALUES (?, 0, ?)",
        (workspace_id, microseconds_from(now)),
    )


def deleted_since(connection: sqlite3.Connection, workspace_id: int) -> datetime | None:
    """Returns the moment of the oldest deletion that no purge has ended for; None if none."""
    (since,) = connection.execute(
        "SELECT MIN(since) FROM deleted_content WHERE workspace_id = ?", (workspace_id,)
    ).fetchone()
    return None if since is None else moment_from(since)


def begin_purge(connection: sqlite3.Connection, workspace_id: int) -> None:
    """Notes that a purge takes on everything deleted up to now."""
    # A purge that was interrupted left its note, which is the older one.
    connection.execute(
        "UPDATE OR IGNORE deleted_content SET purging = 1 WHERE workspace_id = ? AND purging = 0",
        (workspace_id,),
    )
    connection.execute(
        "DELETE FROM deleted_content WHERE workspace_id = ? AND purging = 0", (workspace_id,)
    )


def end_purge(connection: sqlite3.Connection, workspace_id: int) -> None:
    """Forgets the deletions that the purge has taken on."""
    connection.execute(
        "DELETE FROM deleted_content WHERE workspace_id = ? AND purging = 1", (workspace_id,)
    )
