"""Ends the rows of workspaces that are deleted."""

from sqlalchemy import ColumnElement, Connection, delete, select, tuple_

from retriever_svc.milvus.store.layout import (
    DOCUMENTS,
    LEASES,
    OUTBOX,
    PASSAGES,
    SPACES,
    VECTORS,
    WORKSPACES,
)

_ROWS_AT_ONCE = 20_000
# Whatever names a row of another goes before it; the outbox last, which keeps the work in mind.
_OWNED = (VECTORS, PASSAGES, DOCUMENTS, SPACES, LEASES, OUTBOX)


def is_retired(connection: Connection, workspace_id: int) -> bool:
    """Whether a workspace is deleted; its rows may be there still."""
    slug = connection.execute(
        select(WORKSPACES.c.slug).where(WORKSPACES.c.id == workspace_id)
    ).scalar_one_or_none()
    return slug is None


def spaces_of(connection: Connection, workspace_id: int) -> list[int]:
    """Returns the keys of a workspace's spaces."""
    statement = select(SPACES.c.id).where(SPACES.c.workspace_id == workspace_id)
    return list(connection.execute(statement).scalars())


def delete_some_rows(connection: Connection, workspace_id: int) -> None:
    """Deletes some rows of a deleted workspace, and in the end the workspace itself."""
    spaces = select(SPACES.c.id).where(SPACES.c.workspace_id == workspace_id)
    for table in _OWNED:
        key = list(table.primary_key)
        owned: ColumnElement[bool]
        if table is VECTORS:
            owned = VECTORS.c.space_key.in_(spaces)
        else:
            owned = table.c.workspace_id == workspace_id
        some = select(*key).where(owned).limit(_ROWS_AT_ONCE)
        deleted = connection.execute(delete(table).where(tuple_(*key).in_(some)))
        if deleted.rowcount == _ROWS_AT_ONCE:
            return
    connection.execute(delete(WORKSPACES).where(WORKSPACES.c.id == workspace_id))
