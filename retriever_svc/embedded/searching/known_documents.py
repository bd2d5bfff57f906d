"""Keeps what searches read of documents, once for each state of the workspace."""

import sqlite3
from collections.abc import Collection
from itertools import islice

from retriever_svc.embedded.store.document_rows import read_documents
from retriever_svc.store.rows import DocumentRow

_CAPACITY = 4_096


class KnownDocuments:
    """Keeps documents of one workspace decoded; used by the search thread alone."""

    def __init__(self, workspace_id: int, capacity: int = _CAPACITY) -> None:
        self._workspace_id = workspace_id
        self._capacity = capacity
        self._kept: dict[int, DocumentRow] = {}
        self._seq = -1

    def of(
        self, connection: sqlite3.Connection, seq: int, document_ids: Collection[int]
    ) -> dict[int, DocumentRow]:
        """Returns the documents after change number `seq`; those that are gone are missing.

        `connection` must see the workspace in that state.
        """
        if seq != self._seq:
            self._kept.clear()
            self._seq = seq
        kept = self._kept
        found = {id_: row for id_ in document_ids if (row := kept.get(id_)) is not None}
        missing = [id_ for id_ in document_ids if id_ not in found]
        if missing:
            read = read_documents(connection, self._workspace_id, missing)
            found |= read
            kept |= read
            # The oldest go; a document in use comes back at the next search.
            for id_ in list(islice(kept, max(0, len(kept) - self._capacity))):
                del kept[id_]
        return found
