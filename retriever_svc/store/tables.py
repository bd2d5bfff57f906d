"""The tables of a store, as the rules of changes use them: one implementation for each database."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from retriever_svc.documents import Document, ParentRange, Passage
from retriever_svc.store.rows import DocumentRow, PassageRow, SpaceRow, WorkspaceRow
from retriever_svc.store.stored_vectors import StoredVector


class StoreTables(Protocol):
    """Reads and writes rows inside of one transaction, which the caller ends.

    Every method keeps to the workspace it is given, by internal id. What was written is read back.
    """

    def find_workspace(self, slug: str) -> WorkspaceRow:
        """Reads a workspace that is about to change, so that no other change does. NotFound."""
        ...

    def read_workspace(self, workspace_id: int) -> WorkspaceRow:
        """Reads a workspace by internal id. Raises NotFound if it is deleted."""
        ...

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
        """Stores what a change made of a workspace."""
        ...

    def find_document(self, workspace_id: int, external_id: str) -> DocumentRow | None:
        """Reads a document by the id its owner gave it."""
        ...

    def documents_after(self, workspace_id: int, after: int, limit: int) -> list[DocumentRow]:
        """Reads up to `limit` documents with internal ids over `after`, growing."""
        ...

    def insert_document(
        self,
        workspace_id: int,
        document: Document,
        *,
        passage_count: int,
        seq: int,
        now: datetime,
    ) -> int:
        """Stores a new document; returns its internal id."""
        ...

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
        """Replaces what is stored of a document."""
        ...

    def delete_document(self, workspace_id: int, document_id: int) -> None:
        """Deletes a document whose passages are gone."""
        ...

    def passages_of_document(self, workspace_id: int, document_id: int) -> list[PassageRow]:
        """Reads the passages of a document in order."""
        ...

    def parent_ranges(self, workspace_id: int, document_id: int) -> dict[int, ParentRange]:
        """Returns, for each passage of a document that is part of a block, which ones make it."""
        ...

    def read_passages(
        self, workspace_id: int, passage_ids: Collection[int]
    ) -> dict[int, PassageRow]:
        """Reads passages by id; those that are gone are missing."""
        ...

    def insert_passages(
        self, workspace_id: int, document_id: int, passages: Sequence[Passage], seq: int
    ) -> list[int]:
        """Stores new passages; returns their ids, growing, in the order of the passages."""
        ...

    def update_passage(
        self, workspace_id: int, passage_id: int, passage: Passage, seq: int
    ) -> None:
        """Replaces what is stored of a passage; the id stays."""
        ...

    def delete_passages(self, workspace_id: int, passage_ids: Collection[int], seq: int) -> None:
        """Deletes passages whose vectors are gone."""
        ...

    def passages_of_space(self, workspace_id: int, space_key: int, limit: int) -> list[int]:
        """Returns up to `limit` passages that have a vector in a space."""
        ...

    def spaces_by_passage(self, workspace_id: int, document_id: int) -> dict[int, set[int]]:
        """Returns, for each passage of a document with vectors, the keys of their spaces."""
        ...

    def spaces_of_passages(
        self, workspace_id: int, passage_ids: Collection[int]
    ) -> dict[int, set[int]]:
        """Returns, for each of the passages that has vectors, the keys of their spaces."""
        ...

    def vectors_of_passage(self, workspace_id: int, passage_id: int) -> list[StoredVector]:
        """Reads all vectors of a passage."""
        ...

    def insert_vector(
        self, workspace_id: int, passage_id: int, stored: StoredVector, seq: int
    ) -> None:
        """Stores the vector of a passage that has none in the space."""
        ...

    def delete_vector(self, workspace_id: int, passage_id: int, space_key: int) -> None:
        """Deletes the vector of a passage in a space, and its windows."""
        ...

    def replace_windows(
        self, workspace_id: int, passage_id: int, space_key: int, window_count: int, windows: bytes
    ) -> bool:
        """Stores the windows of a passage with a vector; returns whether others were there."""
        ...

    def insert_space(self, workspace_id: int, space_id: str, dimension: int) -> int:
        """Stores a space without passages; returns its key, which no other space ever had."""
        ...

    def delete_space(self, workspace_id: int, space_key: int) -> None:
        """Deletes a space without passages."""
        ...

    def set_canary(self, workspace_id: int, space_key: int, canary: bytes) -> None:
        """Stores the canary of a space."""
        ...

    def set_counts(self, workspace_id: int, spaces: Iterable[SpaceRow]) -> None:
        """Stores the counts of spaces."""
        ...

    def count_strays(self, workspace_id: int, space_key: int, preferred_key: int) -> int:
        """Counts the passages of a space that the preferred space lacks."""
        ...
