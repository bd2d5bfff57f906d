"""Rows of vectors and window blocks: float32, little-endian, norm 1."""

import sqlite3
from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt
import orjson

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.store.stored_vectors import LITTLE_ENDIAN, StoredVector, decoded


def insert_vector(
    connection: sqlite3.Connection,
    workspace_id: int,
    passage_id: int,
    stored: StoredVector,
    seq: int,
) -> None:
    """Stores the vector of a passage that has none in the space."""
    connection.execute(
        "INSERT INTO vectors (workspace_id, space_key, passage_id, vector, seq, sliced) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (workspace_id, stored.space_key, passage_id, stored.vector, seq, stored.sliced),
    )
    if stored.window_count is not None:
        insert_windows(
            connection,
            workspace_id,
            passage_id,
            stored.space_key,
            stored.window_count,
            stored.windows,
        )


def insert_windows(
    connection: sqlite3.Connection,
    workspace_id: int,
    passage_id: int,
    space_key: int,
    window_count: int,
    windows: bytes,
) -> None:
    """Stores the windows of a passage that has a vector in the space and awaits them."""
    connection.execute(
        "INSERT INTO windows (workspace_id, space_key, passage_id, window_count, vectors) "
        "VALUES (?, ?, ?, ?, ?)",
        (workspace_id, space_key, passage_id, window_count, windows),
    )


def delete_windows(
    connection: sqlite3.Connection, workspace_id: int, passage_id: int, space_key: int
) -> bool:
    """Deletes the windows of a passage in a space; returns whether there were any."""
    deleted = connection.execute(
        "DELETE FROM windows WHERE workspace_id = ? AND space_key = ? AND passage_id = ?",
        (workspace_id, space_key, passage_id),
    )
    return deleted.rowcount > 0


def delete_vector(
    connection: sqlite3.Connection, workspace_id: int, passage_id: int, space_key: int
) -> None:
    """Deletes the vector of a passage in a space, and its windows."""
    delete_windows(connection, workspace_id, passage_id, space_key)
    connection.execute(
        "DELETE FROM vectors WHERE workspace_id = ? AND space_key = ? AND passage_id = ?",
        (workspace_id, space_key, passage_id),
    )


def spaces_by_passage(
    connection: sqlite3.Connection, workspace_id: int, document_id: int
) -> dict[int, set[int]]:
    """Returns, for each passage of a document that has vectors, the keys of their spaces."""
    found: dict[int, set[int]] = {}
    rows = connection.execute(
        "SELECT vectors.passage_id, vectors.space_key "
        "FROM passages JOIN vectors ON vectors.passage_id = passages.id "
        "WHERE passages.workspace_id = ? AND passages.document_id = ?",
        (workspace_id, document_id),
    )
    for passage_id, space_key in rows:
        found.setdefault(passage_id, set()).add(space_key)
    return found


def sliced_by_passage(
    connection: sqlite3.Connection, workspace_id: int, document_id: int
) -> dict[int, set[int]]:
    """Returns, for each passage of a document with vectors of slices, the keys of their spaces."""
    found: dict[int, set[int]] = {}
    rows = connection.execute(
        "SELECT vectors.passage_id, vectors.space_key "
        "FROM passages JOIN vectors ON vectors.passage_id = passages.id "
        "WHERE passages.workspace_id = ? AND passages.document_id = ? AND vectors.sliced",
        (workspace_id, document_id),
    )
    for passage_id, space_key in rows:
        found.setdefault(passage_id, set()).add(space_key)
    return found


def awaiting_counts(
    connection: sqlite3.Connection, workspace_id: int, document_ids: Collection[int]
) -> dict[int, int]:
    """Counts, by internal id of the document, the passages without any vector, where there are."""
    rows = connection.execute(
        "SELECT document_id, COUNT(*) FROM passages "
        # The sign keeps SQLite from walking all rows of the workspace by its index.
        "WHERE +workspace_id = ? AND document_id IN (SELECT value FROM json_each(?)) "
        "AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.passage_id = passages.id) "
        "GROUP BY document_id",
        (workspace_id, orjson.dumps(list(document_ids)).decode()),
    )
    return dict(rows.fetchall())


def vectors_of_passage(
    connection: sqlite3.Connection, workspace_id: int, passage_id: int
) -> list[StoredVector]:
    """Reads all vectors of a passage."""
    rows = connection.execute(
        "SELECT vectors.space_key, vectors.vector, "
        "windows.window_count, COALESCE(windows.vectors, x''), vectors.sliced "
        "FROM vectors LEFT JOIN windows USING (workspace_id, space_key, passage_id) "
        "WHERE workspace_id = ? AND passage_id = ? ORDER BY space_key",
        (workspace_id, passage_id),
    )
    return [
        StoredVector(key, vector, count, windows, bool(sliced))
        for key, vector, count, windows, sliced in rows
    ]


def vectors_of_space(
    connection: sqlite3.Connection, workspace_id: int, space_key: int, dimension: int
) -> tuple[IntVector, FloatMatrix]:
    """Reads all vectors of a space, ids growing; call it inside of a transaction."""
    chosen = (workspace_id, space_key)
    (count,) = connection.execute(
        "SELECT COUNT(*) FROM vectors WHERE workspace_id = ? AND space_key = ?", chosen
    ).fetchone()
    ids = np.empty(count, np.int64)
    vectors = np.empty((count, dimension), np.float32)
    rows = connection.execute(
        "SELECT passage_id, vector FROM vectors "
        "WHERE workspace_id = ? AND space_key = ? ORDER BY passage_id",
        chosen,
    )
    for row, (passage_id, blob) in enumerate(rows):
        ids[row] = passage_id
        vectors[row] = np.frombuffer(blob, LITTLE_ENDIAN)
    return ids, vectors


def vectors_of_passages(
    connection: sqlite3.Connection,
    workspace_id: int,
    space_key: int,
    dimension: int,
    passage_ids: Collection[int],
) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """Reads the vectors of those passages that have one in the space."""
    rows = connection.execute(
        "SELECT passage_id, vector FROM vectors WHERE workspace_id = ? AND space_key = ? "
        "AND passage_id IN (SELECT value FROM json_each(?))",
        (workspace_id, space_key, orjson.dumps(list(passage_ids)).decode()),
    )
    for passage_id, blob in rows:
        yield passage_id, decoded(blob, dimension)[0]


def windows_of_passages(
    connection: sqlite3.Connection,
    workspace_id: int,
    space_key: int,
    dimension: int,
    passage_ids: Collection[int],
) -> Iterator[tuple[int, FloatMatrix]]:
    """Reads the window blocks, [windows, dimension], of those passages that have some."""
    rows = connection.execute(
        "SELECT passage_id, vectors FROM windows WHERE workspace_id = ? AND space_key = ? "
        "AND window_count > 0 AND passage_id IN (SELECT value FROM json_each(?))",
        (workspace_id, space_key, orjson.dumps(list(passage_ids)).decode()),
    )
    for passage_id, blob in rows:
        yield passage_id, decoded(blob, dimension)
