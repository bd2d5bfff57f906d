"""Brings Milvus to what PostgreSQL has committed, before a change is acknowledged.

Whatever the outbox names is read anew and written over. One process at a time does so for a
workspace; one that waits finds its own entries done by the one before.
"""

from sqlalchemy import Connection

from chassis.errors import Unavailable
from retriever_svc.milvus.clients.milvus_connection import CollectionMissingError
from retriever_svc.milvus.collections.workspace_collections import (
    IndexedPassage,
    WorkspaceCollections,
)
from retriever_svc.milvus.store import outbox
from retriever_svc.milvus.store.document_rows import read_documents
from retriever_svc.milvus.store.outbox import Due
from retriever_svc.milvus.store.passage_rows import passages_after, read_passages
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.retired_workspaces import delete_some_rows, is_retired, spaces_of
from retriever_svc.milvus.store.vector_rows import held_vectors
from retriever_svc.milvus.store.workspace_rows import find_workspace, read_workspace
from retriever_svc.store.rows import WorkspaceRow

# Passages that are read and written together.
_BATCH = 200


class Propagation:
    """Works off the outbox; shared by threads."""

    def __init__(self, store: PostgresStore, collections: WorkspaceCollections) -> None:
        self._store = store
        self._collections = collections

    def settle(self, workspace_id: int, *, wait: bool = True) -> bool:
        """Returns once Milvus has everything that was committed for the workspace before.

        Without `wait`, leaves a workspace alone that another process works on. Returns whether
        there was something left to do. Of a deleted workspace nothing is found then, though rows
        may be left for later calls. Raises Unavailable; what is left then is done by a later call,
        of this process or another.
        """
        with self._store.snapshot() as connection:
            if not outbox.is_due(connection, workspace_id):
                return False
        try:
            return self._settle(workspace_id, wait=wait)
        except CollectionMissingError as error:
            with self._store.transaction() as connection:
                outbox.note(connection, workspace_id, None)
            raise Unavailable(
                "Milvus has lost a collection, which is built anew",
                retry_after_s=1.0,
                reason="INDEX_LOST",
            ) from error

    def rebuild_missing(self, workspace: WorkspaceRow) -> None:
        """Asks for all collections of a workspace to be built anew, by whoever settles next.

        Where a change is on its way anyway, it brings the collection that is missing. Raises
        NotFound where the workspace is deleted by now.
        """
        with self._store.transaction() as connection:
            # Of several that notice, one asks; who works on it holds another lock.
            find_workspace(connection, workspace.slug, lock=True)
            if not outbox.is_due(connection, workspace.id):
                outbox.note(connection, workspace.id, None)

    def _settle(self, workspace_id: int, *, wait: bool) -> bool:
        with self._store.transaction() as connection:
            if not outbox.lock_workspace(connection, workspace_id, wait=wait):
                return False
            due = outbox.due(connection, workspace_id)
            if not due.entry_ids:
                return False
            if is_retired(connection, workspace_id):
                self._collections.drop(workspace_id, spaces_of(connection, workspace_id))
                delete_some_rows(connection, workspace_id)
                return True
            self._work_off(connection, read_workspace(connection, workspace_id), due)
            outbox.remove(connection, due.entry_ids)
            return True

    def _work_off(self, connection: Connection, workspace: WorkspaceRow, due: Due) -> None:
        self._collections.drop_spaces(due.dropped_spaces)
        if due.everything:
            self._collections.drop(workspace.id, [space.key for space in workspace.spaces])
        self._collections.prepare(workspace)
        if not due.everything:
            ids = sorted(due.passage_ids)
            for first in range(0, len(ids), _BATCH):
                self._write(connection, workspace, ids[first : first + _BATCH])
            return
        batch = passages_after(connection, workspace.id, 0, _BATCH)
        while batch:
            self._write(connection, workspace, batch)
            batch = passages_after(connection, workspace.id, batch[-1], _BATCH)

    def _write(self, connection: Connection, workspace: WorkspaceRow, ids: list[int]) -> None:
        rows = read_passages(connection, workspace.id, ids)
        documents = read_documents(
            connection, workspace.id, {row.document_id for row in rows.values()}
        )
        vectors: dict[int, dict[int, bytes]] = {passage_id: {} for passage_id in rows}
        for held in held_vectors(connection, [one.key for one in workspace.spaces], list(rows)):
            vectors[held.passage_id][held.space_key] = held.vector
        passages = [
            IndexedPassage(row, documents[row.document_id], vectors[row.id])
            for row in rows.values()
            if row.document_id in documents
        ]
        living = {one.row.id for one in passages}
        gone = [passage_id for passage_id in ids if passage_id not in living]
        self._collections.write(workspace, passages, gone)
