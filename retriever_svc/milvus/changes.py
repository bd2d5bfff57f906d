"""Changes of workspaces: committed in PostgreSQL, then brought to Milvus, then acknowledged."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection

from chassis.errors import Unavailable
from retriever_svc.milvus.propagation import Propagation
from retriever_svc.milvus.store import leases, outbox
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.postgres_tables import PostgresTables
from retriever_svc.milvus.store.workspace_rows import (
    change_settings,
    find_workspace,
    insert_workspace,
    rename_workspace,
    retire_workspace,
)
from retriever_svc.spaces import SpaceLease
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import WorkspaceRow
from retriever_svc.workspaces import WorkspaceSettings, WorkspaceUpdate

R = TypeVar("R")


class Changes:
    """Makes changes; shared by threads, and by replicas of which none knows the others.

    A workspace's row is locked while one of its changes is made, so that changes of a workspace
    come one after the other, as everywhere.
    """

    def __init__(self, store: PostgresStore, propagation: Propagation) -> None:
        self._store = store
        self._propagation = propagation

    def create(self, slug: str, settings: WorkspaceSettings, now: datetime) -> WorkspaceRow:
        """Stores a workspace. Raises AlreadyExists."""
        with self._store.transaction() as connection:
            workspace = insert_workspace(connection, slug, settings, now)
            outbox.note(connection, workspace.id, ())
        self._settle(workspace.id)
        return workspace

    def update(self, update: WorkspaceUpdate) -> None:
        """Changes settings of a workspace. Raises NotFound."""
        with self._store.transaction() as connection:
            change_settings(connection, update)

    def rename(self, slug: str, new_slug: str) -> None:
        """Gives a workspace another slug. Raises NotFound and AlreadyExists."""
        with self._store.transaction() as connection:
            rename_workspace(connection, slug, new_slug)

    def delete(self, slug: str) -> WorkspaceRow:
        """Deletes a workspace; returns it as it was. Raises NotFound."""
        with self._store.transaction() as connection:
            gone = retire_workspace(connection, slug)
            outbox.note(connection, gone.id, ())
        self._settle(gone.id)
        return gone

    def lease(self, slug: str, space_id: str, holder: str, duration_s: float) -> SpaceLease:
        """Grants or prolongs a lease. Raises NotFound."""
        with self._store.transaction() as connection:
            workspace = find_workspace(connection, slug)
            return leases.lease(connection, workspace.id, space_id, holder, duration_s)

    def require_lease(self, slug: str, space_id: str, holder: str) -> None:
        """Raises NotFound, and FailedPrecondition unless the holder has the lease."""
        with self._store.snapshot() as connection:
            workspace = find_workspace(connection, slug)
            leases.require(connection, workspace.id, slug, space_id, holder)

    def make(self, change: Callable[..., tuple[R, DocumentChange]], *args: Any, **kwargs: Any) -> R:
        """Makes a change that takes the store's tables first; returns its answer.

        Raises what the change raises, and Unavailable (NOT_YET_SEARCHABLE) for one that is stored
        and reaches Milvus later.
        """
        with self._store.transaction() as connection:
            answer, workspace_id = _made(connection, change, *args, **kwargs)
        self._settle(workspace_id)
        return answer

    def _settle(self, workspace_id: int) -> None:
        try:
            self._propagation.settle(workspace_id)
        except Unavailable as error:
            raise Unavailable(
                f"the change is stored, but searches may not see it yet ({error}); "
                "repeat the call to know when they do",
                retry_after_s=1.0,
                reason="NOT_YET_SEARCHABLE",
            ) from error


def _made(
    connection: Connection,
    change: Callable[..., tuple[R, DocumentChange]],
    *args: Any,
    **kwargs: Any,
) -> tuple[R, int]:
    tables = PostgresTables(connection)
    answer, effect = change(tables, *args, **kwargs)
    tables.flush()
    touched = _touched(effect)
    dropped = tables.dropped_spaces
    if touched or dropped:
        outbox.note(connection, effect.workspace.id, touched, dropped)
    return answer, effect.workspace.id


def _touched(effect: DocumentChange) -> set[int]:
    """Returns the passages whose entries in Milvus a change makes wrong."""
    return {
        *effect.removed,
        *(entry.passage_id for entry in effect.entries),
        *(passage_id for _, passage_id in effect.lost),
        *(passage_id for put in effect.put for passage_id in put.ids.tolist()),
    }
