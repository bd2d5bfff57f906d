"""Stores vectors that arrive for a document whose content is there already."""

from collections.abc import Sequence

from retriever_svc.documents import Passage, UpsertOutcome, UpsertReceipt
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import DocumentRow, PassageRow, WorkspaceRow
from retriever_svc.store.tables import StoreTables
from retriever_svc.store.vector_writing import VectorWriter
from retriever_svc.unit_vectors import UnitVectors


def complete_vectors(
    tables: StoreTables,
    workspace: WorkspaceRow,
    stored: DocumentRow,
    passages: Sequence[Passage],
    vectors: Sequence[UnitVectors],
) -> tuple[UpsertReceipt, DocumentChange]:
    """Stores those vectors that the document's passages lack; without any, nothing changes.

    A vector only belongs to a stored passage if both tell the same embedded text.
    """
    rows = tables.passages_of_document(workspace.id, stored.id)
    held = tables.spaces_by_passage(workspace.id, stored.id)
    kept = sum(bool(held.get(row.id)) for row in rows)
    writer = VectorWriter(tables, workspace, workspace.seq + 1, held)
    for given in vectors:
        _put_missing(writer, rows, passages, given)
    put = writer.put()
    after = workspace
    if put:
        preferred, spaces_version = writer.ledger.settle()
        tables.update_workspace(
            workspace.id,
            seq=workspace.seq + 1,
            document_count=workspace.document_count,
            passage_count=workspace.passage_count,
            preferred_space_id=preferred,
            spaces_version=spaces_version,
        )
        after = tables.read_workspace(workspace.id)
    receipt = UpsertReceipt(
        UpsertOutcome.REPLACED if put else UpsertOutcome.UNCHANGED,
        passage_count=len(rows),
        awaiting_passage_count=sum(not held.get(row.id) for row in rows),
        kept_vector_count=kept,
        seq=after.seq,
    )
    return receipt, DocumentChange(after, put=put)


def _put_missing(
    writer: VectorWriter,
    rows: Sequence[PassageRow],
    passages: Sequence[Passage],
    given: UnitVectors,
) -> None:
    fitting = {
        row: rows[position].id
        for row, position in enumerate(given.positions.tolist())
        if position < len(rows) and _same_text(rows[position], passages[position])
    }
    known = writer.ledger.known(given.space_id)
    lacking = {
        row: passage_id
        for row, passage_id in fitting.items()
        if known is None or known.key not in writer.held.get(passage_id, ())
    }
    if lacking:
        space = writer.ledger.enter(given.space_id, given.dimension, given.canary)
        for row, passage_id in lacking.items():
            writer.put_row(passage_id, space.key, given, row)


def _same_text(row: PassageRow, passage: Passage) -> bool:
    stored = row.passage
    return stored.embedded_text_hash == passage.embedded_text_hash and stored.text == passage.text
