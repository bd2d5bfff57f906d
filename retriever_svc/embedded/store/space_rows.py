"""Rows of passages as a space sees them: what it lacks, and what it alone holds."""

import sqlite3
from collections.abc import Collection

import orjson

# The sign keeps SQLite from reading all rows of the workspace before it sorts them.
_AWAITS_WINDOWS = (
    "+vectors.workspace_id = ? AND vectors.space_key = ? AND NOT EXISTS ("
    "  SELECT 1 FROM windows WHERE windows.space_key = vectors.space_key"
    "  AND windows.passage_id = vectors.passage_id)"
)


def count_strays(
    connection: sqlite3.Connection, workspace_id: int, space_key: int, preferred_key: int
) -> int:
    """Counts the passages of a space that the preferred space lacks."""
    (count,) = connection.execute(
        "SELECT COUNT(*) FROM vectors WHERE workspace_id = ? AND space_key = ? AND NOT EXISTS ("
        "  SELECT 1 FROM vectors AS others"
        "  WHERE others.space_key = ? AND others.passage_id = vectors.passage_id)",
        (workspace_id, space_key, preferred_key),
    ).fetchone()
    return int(count)


def count_awaiting(
    connection: sqlite3.Connection, workspace_id: int, space_key: int
) -> tuple[int, int]:
    """Counts the passages that a space lacks, and sums up their token estimates."""
    count, tokens = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(token_estimate), 0) FROM passages WHERE workspace_id = ? "
        "AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.space_key = ? "
        "AND vectors.passage_id = passages.id)",
        (workspace_id, space_key),
    ).fetchone()
    return int(count), int(tokens)


def awaiting_passages(
    connection: sqlite3.Connection, workspace_id: int, space_key: int, *, after: int, limit: int
) -> dict[int, str]:
    """Returns up to `limit` passages that a space lacks, ids growing, those over `after`.

    Each comes with the title of its document.
    """
    rows = connection.execute(
        "SELECT passages.id, documents.title "
        "FROM passages JOIN documents ON documents.id = passages.document_id "
        # The sign keeps SQLite from reading all rows of the workspace before it sorts them.
        "WHERE +passages.workspace_id = ? AND passages.id > ? AND NOT EXISTS ("
        "  SELECT 1 FROM vectors"
        "  WHERE vectors.space_key = ? AND vectors.passage_id = passages.id) "
        "ORDER BY passages.id LIMIT ?",
        (workspace_id, after, space_key, limit),
    )
    return dict(rows.fetchall())


def count_awaiting_windows(
    connection: sqlite3.Connection, workspace_id: int, space_key: int
) -> tuple[int, int]:
    """Counts the passages that await windows in a space, and sums up their token estimates."""
    count, tokens = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(token_estimate), 0) "
        "FROM vectors JOIN passages ON passages.id = vectors.passage_id "
        f"WHERE {_AWAITS_WINDOWS}",
        (workspace_id, space_key),
    ).fetchone()
    return int(count), int(tokens)


def passages_awaiting_windows(
    connection: sqlite3.Connection, workspace_id: int, space_key: int, *, after: int, limit: int
) -> dict[int, str]:
    """Returns up to `limit` passages that await windows in a space, as `awaiting_passages` does."""
    rows = connection.execute(
        "SELECT passages.id, documents.title FROM vectors "
        "JOIN passages ON passages.id = vectors.passage_id "
        "JOIN documents ON documents.id = passages.document_id "
        f"WHERE {_AWAITS_WINDOWS} AND vectors.passage_id > ? "
        "ORDER BY vectors.passage_id LIMIT ?",
        (workspace_id, space_key, after, limit),
    )
    return dict(rows.fetchall())


def passages_of_space(
    connection: sqlite3.Connection, workspace_id: int, space_key: int, limit: int
) -> list[int]:
    """Returns up to `limit` passages that have a vector in a space."""
    rows = connection.execute(
        "SELECT passage_id FROM vectors WHERE workspace_id = ? AND space_key = ? LIMIT ?",
        (workspace_id, space_key, limit),
    )
    return [row[0] for row in rows]


def spaces_of_passages(
    connection: sqlite3.Connection, workspace_id: int, passage_ids: Collection[int]
) -> dict[int, set[int]]:
    """Returns, for each of the passages that has vectors, the keys of their spaces."""
    found: dict[int, set[int]] = {}
    rows = connection.execute(
        # The sign keeps SQLite from walking all rows of the workspace by its index.
        "SELECT passage_id, space_key FROM vectors WHERE +workspace_id = ? "
        "AND passage_id IN (SELECT value FROM json_each(?))",
        (workspace_id, orjson.dumps(list(passage_ids)).decode()),
    )
    for passage_id, space_key in rows:
        found.setdefault(passage_id, set()).add(space_key)
    return found
