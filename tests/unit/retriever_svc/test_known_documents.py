"""Documents kept decoded between searches."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

import pytest

from retriever_svc.documents import Document
from retriever_svc.embedded.searching.known_documents import KnownDocuments
from retriever_svc.embedded.store.document_rows import (
    delete_document_row,
    insert_document,
    update_document,
)
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import insert_workspace
from retriever_svc.workspaces import WorkspaceSettings

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A store with workspace 1 and documents 1 to 5, titled like their ids."""
    store = Store(tmp_path / "store.sqlite3")
    assert insert_workspace(store.connection, "w", WorkspaceSettings(), NOW).id == 1
    for number in range(1, 6):
        document = Document(str(number), title=str(number))
        insert_document(store.connection, 1, document, passage_count=0, seq=1, now=NOW)
    yield store.connection
    store.close()


def titles(known: KnownDocuments, connection: Connection, seq: int, *ids: int) -> dict[int, str]:
    """Asks for documents; returns their titles."""
    return {id_: row.document.title for id_, row in known.of(connection, seq, ids).items()}


def test_a_kept_document_is_not_read_again(connection: Connection) -> None:
    """Within one state of the workspace the store is asked once for a document."""
    known = KnownDocuments(1)
    asked: list[str] = []
    titles(known, connection, 1, 1, 2)
    connection.set_trace_callback(asked.append)

    assert titles(known, connection, 1, 2, 1) == {1: "1", 2: "2"}
    assert asked == []
    assert titles(known, connection, 1, 1, 3) == {1: "1", 3: "3"}
    assert len(asked) == 1


def test_a_change_is_seen_at_once(connection: Connection) -> None:
    """After a change of the workspace nothing older is returned, nor what is gone."""
    known = KnownDocuments(1)
    titles(known, connection, 1, 1, 2)
    changed = Document("1", title="other")
    update_document(connection, 1, 1, changed, passage_count=0, seq=2, now=NOW)
    delete_document_row(connection, 1, 2)

    assert titles(known, connection, 2, 1, 2) == {1: "other"}


def test_no_more_than_its_capacity_is_kept(connection: Connection) -> None:
    """One call may ask for more than is kept; the oldest are forgotten."""
    known = KnownDocuments(1, capacity=2)
    asked: list[str] = []

    assert len(titles(known, connection, 1, 1, 2, 3, 4)) == 4
    connection.set_trace_callback(asked.append)
    titles(known, connection, 1, 3, 4)
    assert asked == []
    titles(known, connection, 1, 1)
    assert len(asked) == 1
