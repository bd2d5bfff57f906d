"""Deletes a document."""

from retriever_svc.documents import DocumentRemoval
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.tables import StoreTables
from retriever_svc.store.vector_writing import VectorWriter


def delete_document(
    tables: StoreTables, workspace_slug: str, external_id: str
) -> tuple[DocumentRemoval, DocumentChange]:
    """Deletes a document; where there is none, nothing changes. Raises NotFound (workspace)."""
    workspace = tables.find_workspace(workspace_slug)
    stored = tables.find_document(workspace.id, external_id)
    if stored is None:
        nothing = DocumentRemoval(deleted=False, passage_count=0, seq=workspace.seq)
        return nothing, DocumentChange(workspace)
    seq = workspace.seq + 1
    removed = tuple(row.id for row in tables.passages_of_document(workspace.id, stored.id))
    held = tables.spaces_by_passage(workspace.id, stored.id)
    writer = VectorWriter(tables, workspace, seq, held)
    for passage_id in removed:
        writer.drop_all(passage_id)
    tables.delete_passages(workspace.id, removed, seq)
    tables.delete_document(workspace.id, stored.id)
    preferred, spaces_version = writer.ledger.settle()
    tables.update_workspace(
        workspace.id,
        seq=seq,
        document_count=workspace.document_count - 1,
        passage_count=workspace.passage_count - len(removed),
        preferred_space_id=preferred,
        spaces_version=spaces_version,
    )
    after = tables.read_workspace(workspace.id)
    removal = DocumentRemoval(deleted=True, passage_count=len(removed), seq=seq)
    return removal, DocumentChange(after, removed=removed, erasing=True)
