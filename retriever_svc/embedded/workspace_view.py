"""What searches see of one workspace; used by the search thread alone."""

import sqlite3
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.segment_rows import Flags
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.searching.known_documents import KnownDocuments
from retriever_svc.embedded.searching.known_passages import KnownPassages
from retriever_svc.embedded.searching.subsets import Subsets
from retriever_svc.embedded.snapshot_reader import SnapshotReader
from retriever_svc.embedded.store.passage_rows import passages_without_vectors
from retriever_svc.embedded.store.vector_rows import vectors_of_passages, vectors_of_space
from retriever_svc.store.descriptions import described
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import WorkspaceRow, rests
from retriever_svc.workspaces import Space, Workspace


class WorkspaceView:
    """The workspace after change number `row.seq`, with the indexes that answer for it."""

    def __init__(
        self, row: WorkspaceRow, lexical: LexicalSearcher, settings: DenseSettings
    ) -> None:
        self.row = row
        self.lexical = lexical
        self.indexes: dict[str, SpaceIndex] = {}
        self.awaiting: set[int] = set()
        """Passages without a vector in any space."""
        self.subsets = Subsets(row.id)
        """Passages by condition."""
        self.documents = KnownDocuments(row.id)
        self.passages = KnownPassages(0)
        """Texts that searches of all workspaces have read, once searches see the view."""
        self.reader: SnapshotReader | None = None
        """Reads the state of the store that the view shows, once searches see it."""
        self._settings = settings

    def load(self, connection: sqlite3.Connection) -> None:
        """Fills the empty view; `connection` must see the workspace as `row` says."""
        for space in self.row.spaces:
            index = self._index(space.space_id, space.dimension)
            index.load(*vectors_of_space(connection, self.row.id, space.key, space.dimension))
        self.awaiting = passages_without_vectors(connection, self.row.id)

    def apply(self, change: DocumentChange) -> None:
        """Takes in a change; the BM25 searcher is exchanged by the caller."""
        removed = np.array(change.removed, np.int64)
        for index in self.indexes.values():
            index.remove(removed)
        if change.removed:
            reach(Failpoint.DELETE_TOMBSTONED)
        for space_id, passage_id in change.lost:
            self.indexes[space_id].remove(np.array([passage_id]))
        for put in change.put:
            self._index(put.space_id, put.dimension).put(put.ids, put.vectors)
        self.row = change.workspace
        living = {space.space_id for space in self.row.spaces}
        for space_id in self.indexes.keys() - living:
            del self.indexes[space_id]
        self._note_awaiting(change)

    def contains(self, space_ids: list[str], ids: IntVector) -> Flags:
        """Says for each passage whether one of the spaces holds a vector of it."""
        held = np.zeros(len(ids), np.bool_)
        for space_id in space_ids:
            held |= self.indexes[space_id].contains(ids)
        return held

    def spaces(self) -> tuple[Space, ...]:
        """Describes the spaces."""
        return tuple(
            Space(
                space.space_id,
                space.dimension,
                space.passage_count,
                self.indexes[space.space_id].active_kind,
                rests(space, self.row.preferred_space_id),
                space.stray_count,
                space.canary,
            )
            for space in self.row.spaces
        )

    def described(self) -> Workspace:
        """Describes the workspace."""
        return described(self.row, self.spaces())

    def _index(self, space_id: str, dimension: int) -> SpaceIndex:
        index = self.indexes.get(space_id)
        if index is None:
            index = SpaceIndex(
                dimension,
                self.row.settings.dense_index_kind,
                self._settings,
                partial(self._stored_vectors, space_id),
            )
            self.indexes[space_id] = index
        return index

    def _stored_vectors(
        self, space_id: str, ids: IntVector
    ) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        for space in self.row.spaces:
            if space.space_id == space_id and self.reader is not None:
                yield from vectors_of_passages(
                    self.reader.connection, self.row.id, space.key, space.dimension, ids.tolist()
                )

    def _note_awaiting(self, change: DocumentChange) -> None:
        self.awaiting.difference_update(change.removed)
        touched = {entry.passage_id for entry in change.entries}
        touched.update(passage_id for _, passage_id in change.lost)
        for put in change.put:
            touched.update(put.ids.tolist())
        ids = np.fromiter(touched, np.int64, len(touched))
        held = self.contains(list(self.indexes), ids)
        self.awaiting.difference_update(ids[held].tolist())
        self.awaiting.update(ids[~held].tolist())
