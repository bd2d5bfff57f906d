"""Rows of passages in the store."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from retriever_svc.documents import Document, Passage
from retriever_svc.embedded.store.document_rows import insert_document
from retriever_svc.embedded.store.passage_rows import insert_passage, read_passages
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import insert_workspace
from retriever_svc.workspaces import WorkspaceSettings

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("count", [0, 1, 8, 9, 20, 199, 200, 201, 300])
def test_any_number_of_passages_is_read_by_id(tmp_path: Path, count: int) -> None:
    """Exactly the passages asked for come back, those of other workspaces and unknown ones not."""
    store = Store(tmp_path / "store.sqlite3")
    try:
        for slug in ("one", "other"):
            workspace = insert_workspace(store.connection, slug, WorkspaceSettings(), NOW).id
            document = insert_document(
                store.connection, workspace, Document("d"), passage_count=0, seq=1, now=NOW
            )
            ids = [
                insert_passage(store.connection, workspace, document, Passage(place, slug), 1)
                for place in range(count)
            ]

        rows = read_passages(store.connection, workspace, ids)

        assert {id_: row.passage.chunk_index for id_, row in rows.items()} == {
            id_: place for place, id_ in enumerate(ids)
        }
        assert read_passages(store.connection, workspace, [id_ - count for id_ in ids]) == {}
        assert read_passages(store.connection, workspace, [id_ + count for id_ in ids]) == {}
    finally:
        store.close()
