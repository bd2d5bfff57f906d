"""Deletes documents and workspaces."""

import sqlite3

from retriever_svc.documents import DocumentRemoval
from retriever_svc.embedded.store.changes import DocumentChange
from retriever_svc.embedded.store.document_rows import delete_document_row, find_document
from retriever_svc.embedded.store.passage_rows import delete_passages, passages_of_document
from retriever_svc.embedded.store.vector_rows import spaces_by_passage
from retriever_svc.embedded.store.vector_writing import VectorWriter
from retriever_svc.embedded.store.workspace_rows import (
    find_workspace,
    read_workspace,
    update_workspace,
)

# Tables of a retired workspace, children first, with what selects its rows through an index.
_OWNED = (
    ("windows", "space_key IN (SELECT id FROM spaces WHERE workspace_id = :id)"),
    ("vectors", "space_key IN (SELECT id FROM spaces WHERE workspace_id = :id)"),
    ("passages", "workspace_id = :id"),
    ("documents", "workspace_id = :id"),
    ("spaces", "workspace_id = :id"),
)


def delete_document(
    connection: sqlite3.Connection, workspace_slug: str, external_id: str
) -> tuple[DocumentRemoval, DocumentChange]:
    """Deletes a document; where there is none, nothing changes. Raises NotFound (workspace)."""
    workspace = find_workspace(connection, workspace_slug)
    stored = find_document(connection, workspace.id, external_id)
    if stored is None:
        nothing = DocumentRemoval(deleted=False, passage_count=0, seq=workspace.seq)
        return nothing, DocumentChange(workspace)
    seq = workspace.seq + 1
    removed = tuple(row.id for row in passages_of_document(connection, workspace.id, stored.id))
    held = spaces_by_passage(connection, workspace.id, stored.id)
    writer = VectorWriter(connection, workspace, seq, held)
    for passage_id in removed:
        writer.drop_all(passage_id)
    delete_passages(connection, workspace.id, removed, seq)
    delete_document_row(connection, workspace.id, stored.id)
    preferred, spaces_version = writer.ledger.settle()
    update_workspace(
        connection,
        workspace.id,
        seq=seq,
        document_count=workspace.document_count - 1,
        passage_count=workspace.passage_count - len(removed),
        preferred_space_id=preferred,
        spaces_version=spaces_version,
    )
    after = read_workspace(connection, workspace.id)
    removal = DocumentRemoval(deleted=True, passage_count=len(removed), seq=seq)
    return removal, DocumentChange(after, removed=removed, erasing=True)


def purge_retired_rows(connection: sqlite3.Connection, row_limit: int) -> bool:
    """Deletes up to `row_limit` rows of retired workspaces; returns whether any were left to do.

    Small steps keep the write-ahead log and the pause of other writers short.
    """
    retired = connection.execute("SELECT id FROM workspaces WHERE slug IS NULL LIMIT 1").fetchone()
    if retired is None:
        return False
    chosen = {"id": retired[0], "limit": row_limit}
    for table, condition in _OWNED:
        deleted = connection.execute(
            f"DELETE FROM {table} "
            f"WHERE id IN (SELECT id FROM {table} WHERE {condition} LIMIT :limit)",
            chosen,
        )
        if deleted.rowcount:
            return True
    connection.execute("DELETE FROM removals WHERE workspace_id = :id", chosen)
    connection.execute("DELETE FROM deleted_content WHERE workspace_id = :id", chosen)
    connection.execute("DELETE FROM workspaces WHERE id = :id", chosen)
    return True
