"""The tables of the store over SQLite."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from retriever_svc.documents import Document, ParentRange, Passage
from retriever_svc.embedded.store import (
    document_rows,
    passage_rows,
    space_rows,
    vector_rows,
    workspace_rows,
)
from retriever_svc.store.rows import DocumentRow, PassageRow, SpaceRow, WorkspaceRow
from retriever_svc.store.stored_vectors import StoredVector
from retriever_svc.store.tables import StoreTables

R = TypeVar("R")


class SqliteTables:
    """Implements `StoreTables` over a connection in a transaction that writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_workspace(self, slug: str) -> WorkspaceRow:
        """See `StoreTables`."""
        return workspace_rows.find_workspace(self._connection, slug)

    def read_workspace(self, workspace_id: int) -> WorkspaceRow:
        """See `StoreTables`."""
        return workspace_rows.read_workspace(self._connection, workspace_id)

    def update_workspace(
        self,
        workspace_id: int,
        *,
        seq: int,
        document_count: int,
        passage_count: int,
        preferred_space_id: str,
        spaces_version: int,
    ) -> None:
        """See `StoreTables`."""
        workspace_rows.update_workspace(
            self._connection,
            workspace_id,
            seq=seq,
            document_count=document_count,
            passage_count=passage_count,
            preferred_space_id=preferred_space_id,
            spaces_version=spaces_version,
        )

    def find_document(self, workspace_id: int, external_id: str) -> DocumentRow | None:
        """See `StoreTables`."""
        return document_rows.find_document(self._connection, workspace_id, external_id)

    def documents_after(self, workspace_id: int, after: int, limit: int) -> list[DocumentRow]:
        """See `StoreTables`."""
        return document_rows.documents_after(self._connection, workspace_id, after, limit)

    def insert_document(
        self,
        workspace_id: int,
        document: Document,
        *,
        passage_count: int,
        seq: int,
        now: datetime,
    ) -> int:
        """See `StoreTables`."""
        return document_rows.insert_document(
            self._connection,
            workspace_id,
            document,
            passage_count=passage_count,
            seq=seq,
            now=now,
        )

    def update_document(
        self,
        workspace_id: int,
        document_id: int,
        document: Document,
        *,
        passage_count: int,
        seq: int,
        now: datetime,
    ) -> None:
        """See `StoreTables`."""
        document_rows.update_document(
            self._connection,
            workspace_id,
            document_id,
            document,
            passage_count=passage_count,
            seq=seq,
            now=now,
        )

    def delete_document(self, workspace_id: int, document_id: int) -> None:
        """See `StoreTables`."""
        document_rows.delete_document_row(self._connection, workspace_id, document_id)

    def passages_of_document(self, workspace_id: int, document_id: int) -> list[PassageRow]:
        """See `StoreTables`."""
        return passage_rows.passages_of_document(self._connection, workspace_id, document_id)

    def parent_ranges(self, workspace_id: int, document_id: int) -> dict[int, ParentRange]:
        """See `StoreTables`."""
        return passage_rows.parent_ranges(self._connection, workspace_id, document_id)

    def read_passages(
        self, workspace_id: int, passage_ids: Collection[int]
    ) -> dict[int, PassageRow]:
        """See `StoreTables`."""
        return passage_rows.read_passages(self._connection, workspace_id, passage_ids)

    def insert_passages(
        self, workspace_id: int, document_id: int, passages: Sequence[Passage], seq: int
    ) -> list[int]:
        """See `StoreTables`."""
        return [
            passage_rows.insert_passage(self._connection, workspace_id, document_id, passage, seq)
            for passage in passages
        ]

    def update_passage(
        self, workspace_id: int, passage_id: int, passage: Passage, seq: int
    ) -> None:
        """See `StoreTables`."""
        passage_rows.update_passage(self._connection, workspace_id, passage_id, passage, seq)

    def delete_passages(self, workspace_id: int, passage_ids: Collection[int], seq: int) -> None:
        """See `StoreTables`."""
        passage_rows.delete_passages(self._connection, workspace_id, passage_ids, seq)

    def passages_of_space(self, workspace_id: int, space_key: int, limit: int) -> list[int]:
        """See `StoreTables`."""
        return space_rows.passages_of_space(self._connection, workspace_id, space_key, limit)

    def spaces_by_passage(self, workspace_id: int, document_id: int) -> dict[int, set[int]]:
        """See `StoreTables`."""
        return vector_rows.spaces_by_passage(self._connection, workspace_id, document_id)

    def spaces_of_passages(
        self, workspace_id: int, passage_ids: Collection[int]
    ) -> dict[int, set[int]]:
        """See `StoreTables`."""
        return space_rows.spaces_of_passages(self._connection, workspace_id, passage_ids)

    def vectors_of_passage(self, workspace_id: int, passage_id: int) -> list[StoredVector]:
        """See `StoreTables`."""
        return vector_rows.vectors_of_passage(self._connection, workspace_id, passage_id)

    def insert_vector(
        self, workspace_id: int, passage_id: int, stored: StoredVector, seq: int
    ) -> None:
        """See `StoreTables`."""
        vector_rows.insert_vector(self._connection, workspace_id, passage_id, stored, seq)

    def delete_vector(self, workspace_id: int, passage_id: int, space_key: int) -> None:
        """See `StoreTables`."""
        vector_rows.delete_vector(self._connection, workspace_id, passage_id, space_key)

    def replace_windows(
        self, workspace_id: int, passage_id: int, space_key: int, window_count: int, windows: bytes
    ) -> bool:
        """See `StoreTables`."""
        place = (self._connection, workspace_id, passage_id, space_key)
        replaced = vector_rows.delete_windows(*place)
        vector_rows.insert_windows(*place, window_count, windows)
        return replaced

    def insert_space(self, workspace_id: int, space_id: str, dimension: int) -> int:
        """See `StoreTables`."""
        cursor = self._connection.execute(
            "INSERT INTO spaces (workspace_id, space_id, dimension) VALUES (?, ?, ?)",
            (workspace_id, space_id, dimension),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def delete_space(self, workspace_id: int, space_key: int) -> None:
        """See `StoreTables`."""
        self._connection.execute(
            "DELETE FROM spaces WHERE workspace_id = ? AND id = ?", (workspace_id, space_key)
        )

    def set_canary(self, workspace_id: int, space_key: int, canary: bytes) -> None:
        """See `StoreTables`."""
        self._connection.execute(
            "UPDATE spaces SET canary = ? WHERE workspace_id = ? AND id = ?",
            (canary, workspace_id, space_key),
        )

    def set_counts(self, workspace_id: int, spaces: Iterable[SpaceRow]) -> None:
        """See `StoreTables`."""
        self._connection.executemany(
            "UPDATE spaces SET passage_count = ?, stray_count = ? "
            "WHERE workspace_id = ? AND id = ?",
            [(one.passage_count, one.stray_count, workspace_id, one.key) for one in spaces],
        )

    def count_strays(self, workspace_id: int, space_key: int, preferred_key: int) -> int:
        """See `StoreTables`."""
        return space_rows.count_strays(self._connection, workspace_id, space_key, preferred_key)


def over_sqlite(
    change: Callable[..., R], *args: Any, **kwargs: Any
) -> Callable[[sqlite3.Connection], R]:
    """Returns the change, which takes tables first, as an operation on a connection."""

    def operation(connection: sqlite3.Connection) -> R:
        tables: StoreTables = SqliteTables(connection)
        return change(tables, *args, **kwargs)

    return operation
