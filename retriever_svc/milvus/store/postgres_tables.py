"""The tables of the store over PostgreSQL."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection

from retriever_svc.documents import Document, ParentRange, Passage
from retriever_svc.milvus.store import (
    document_rows,
    passage_rows,
    vector_rows,
    workspace_rows,
)
from retriever_svc.store.rows import DocumentRow, PassageRow, SpaceRow, WorkspaceRow
from retriever_svc.store.stored_vectors import StoredVector


class PostgresTables:
    """Implements `StoreTables` over a connection in a transaction that writes.

    Vectors are gathered and written together, at the latest by `flush`, which the caller calls
    before the transaction ends.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._put: dict[tuple[int, int], StoredVector] = {}
        self._gone: set[tuple[int, int]] = set()
        self.dropped_spaces: set[int] = set()
        """Keys of spaces that were deleted."""

    def flush(self) -> None:
        """Writes the vectors that were gathered."""
        vector_rows.delete_vectors(self._connection, self._gone)
        self._gone.clear()
        vector_rows.insert_vectors(
            self._connection, [(place[1], stored) for place, stored in self._put.items()]
        )
        self._put.clear()

    def find_workspace(self, slug: str) -> WorkspaceRow:
        """See `StoreTables`."""
        return workspace_rows.find_workspace(self._connection, slug, lock=True)

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
            self._connection, workspace_id, document, passage_count=passage_count, now=now
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
        return passage_rows.insert_passages(self._connection, workspace_id, document_id, passages)

    def update_passage(
        self, workspace_id: int, passage_id: int, passage: Passage, seq: int
    ) -> None:
        """See `StoreTables`."""
        passage_rows.update_passage(self._connection, workspace_id, passage_id, passage)

    def delete_passages(self, workspace_id: int, passage_ids: Collection[int], seq: int) -> None:
        """See `StoreTables`."""
        # Their vectors go first: they name the passages.
        self.flush()
        passage_rows.delete_passages(self._connection, workspace_id, passage_ids)

    def passages_of_space(self, workspace_id: int, space_key: int, limit: int) -> list[int]:
        """See `StoreTables`."""
        self.flush()
        return vector_rows.passages_of_space(self._connection, space_key, limit)

    def spaces_by_passage(self, workspace_id: int, document_id: int) -> dict[int, set[int]]:
        """See `StoreTables`."""
        self.flush()
        return vector_rows.spaces_by_passage(self._connection, document_id)

    def spaces_of_passages(
        self, workspace_id: int, passage_ids: Collection[int]
    ) -> dict[int, set[int]]:
        """See `StoreTables`."""
        self.flush()
        return vector_rows.spaces_of_passages(self._connection, workspace_id, passage_ids)

    def vectors_of_passage(self, workspace_id: int, passage_id: int) -> list[StoredVector]:
        """See `StoreTables`."""
        self.flush()
        return vector_rows.vectors_of_passage(self._connection, passage_id)

    def insert_vector(
        self, workspace_id: int, passage_id: int, stored: StoredVector, seq: int
    ) -> None:
        """See `StoreTables`."""
        self._put[stored.space_key, passage_id] = stored

    def delete_vector(self, workspace_id: int, passage_id: int, space_key: int) -> None:
        """See `StoreTables`."""
        place = (space_key, passage_id)
        if self._put.pop(place, None) is None:
            self._gone.add(place)

    def replace_windows(
        self, workspace_id: int, passage_id: int, space_key: int, window_count: int, windows: bytes
    ) -> bool:
        """See `StoreTables`."""
        self.flush()
        return vector_rows.replace_windows(
            self._connection, passage_id, space_key, window_count, windows
        )

    def insert_space(self, workspace_id: int, space_id: str, dimension: int) -> int:
        """See `StoreTables`."""
        return workspace_rows.insert_space(self._connection, workspace_id, space_id, dimension)

    def delete_space(self, workspace_id: int, space_key: int) -> None:
        """See `StoreTables`."""
        self.flush()
        workspace_rows.delete_space(self._connection, workspace_id, space_key)
        self.dropped_spaces.add(space_key)

    def set_canary(self, workspace_id: int, space_key: int, canary: bytes) -> None:
        """See `StoreTables`."""
        workspace_rows.set_canary(self._connection, workspace_id, space_key, canary)

    def set_counts(self, workspace_id: int, spaces: Iterable[SpaceRow]) -> None:
        """See `StoreTables`."""
        workspace_rows.set_counts(self._connection, workspace_id, spaces)

    def count_strays(self, workspace_id: int, space_key: int, preferred_key: int) -> int:
        """See `StoreTables`."""
        self.flush()
        return workspace_rows.count_strays(self._connection, space_key, preferred_key)
