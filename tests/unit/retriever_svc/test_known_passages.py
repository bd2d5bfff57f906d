"""Passages kept decoded between searches."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

import numpy as np
import pytest

from retriever_svc.documents import Document, DocumentUpsert, Passage, PassageVectors
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.searching.known_passages import KnownPassages
from retriever_svc.embedded.store.document_rows import insert_document
from retriever_svc.embedded.store.passage_rows import insert_passage
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import insert_workspace
from retriever_svc.searches import QueryVariant, SearchRequest
from retriever_svc.workspaces import WorkspaceSettings

NOW = datetime(2026, 5, 1, tzinfo=UTC)
AMPLE = 2**20
SPACE = "space"
VECTOR = np.array([0.6, 0.8], np.float32)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A store with workspace 1, which has passages 1 to 5 with their ids as texts."""
    store = Store(tmp_path / "store.sqlite3")
    assert insert_workspace(store.connection, "w", WorkspaceSettings(), NOW).id == 1
    document = insert_document(store.connection, 1, Document("d"), passage_count=5, seq=1, now=NOW)
    for number in range(1, 6):
        insert_passage(store.connection, 1, document, Passage(number, str(number)), 1)
    yield store.connection
    store.close()


@pytest.fixture
def statements(connection: Connection) -> list[str]:
    """What the store was asked since."""
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    return asked


def texts(known: KnownPassages, connection: Connection, *ids: int) -> dict[int, str]:
    """Asks for passages of workspace 1; returns their texts."""
    return {id_: row.passage.text for id_, row in known.of(connection, 1, ids).items()}


def test_a_kept_passage_is_not_read_again(connection: Connection, statements: list[str]) -> None:
    """The store is asked once for a passage, however often searches find it."""
    known = KnownPassages(AMPLE)
    texts(known, connection, 1, 2)
    statements.clear()

    assert texts(known, connection, 2, 1) == {1: "1", 2: "2"}
    assert statements == []
    assert texts(known, connection, 1, 3, 99) == {1: "1", 3: "3"}
    assert len(statements) == 1


def test_a_forgotten_passage_is_read_again(connection: Connection) -> None:
    """What is forgotten shows the store's present state; the others are still kept."""
    known = KnownPassages(AMPLE)
    texts(known, connection, 1, 2, 3)
    connection.execute("UPDATE passages SET text = 'other'")
    known.forget(1, [1, 77])

    assert texts(known, connection, 1, 2) == {1: "other", 2: "2"}
    known.forget_all()
    assert texts(known, connection, 2, 3) == {2: "other", 3: "other"}


def test_no_workspace_is_given_passages_of_another(connection: Connection) -> None:
    """A passage that is kept for one workspace does not exist for the others."""
    known = KnownPassages(AMPLE)
    texts(known, connection, 1)

    assert known.of(connection, 2, [1]) == {}
    known.forget(2, [1])
    connection.execute("UPDATE passages SET text = 'other'")
    assert texts(known, connection, 1) == {1: "1"}


def test_no_more_than_its_capacity_is_kept(connection: Connection, statements: list[str]) -> None:
    """One call may ask for more than is kept; the oldest are forgotten."""
    known = KnownPassages(2_500)

    assert len(texts(known, connection, 1, 2, 3, 4)) == 4
    statements.clear()
    texts(known, connection, 3, 4)
    assert statements == []
    texts(known, connection, 1)
    assert len(statements) == 1


def test_a_capacity_of_nothing_keeps_nothing(connection: Connection) -> None:
    """Without memory for them passages are read each time."""
    known = KnownPassages(0)
    texts(known, connection, 1)
    connection.execute("UPDATE passages SET text = 'other'")

    assert texts(known, connection, 1) == {1: "other"}


async def test_searches_see_every_change_of_a_passage(tmp_path: Path) -> None:
    """Replaced passages, deleted documents and new workspaces of an old name show at once."""
    engine = EmbeddedEngine(EmbeddedSettings(tmp_path))
    try:
        await engine.create_workspace("w", WorkspaceSettings())
        await _put(engine, "a", "première version", "texte commun")
        await _put(engine, "b", "autre document")
        assert await _found(engine) == {"première version", "texte commun", "autre document"}

        # A passage of equal text keeps its id.
        await _put(engine, "a", "deuxième version", "texte commun", page="page 2")
        assert await _found(engine) == {
            "deuxième version page 2",
            "texte commun page 2",
            "autre document",
        }

        await engine.delete_document("w", "b")
        assert await _found(engine) == {"deuxième version page 2", "texte commun page 2"}

        await engine.delete_workspace("w")
        await engine.create_workspace("w", WorkspaceSettings())
        await _put(engine, "a", "tout neuf")
        assert await _found(engine) == {"tout neuf"}
    finally:
        engine.close()


async def _put(engine: EmbeddedEngine, name: str, *passages: str, page: str = "") -> None:
    """Stores a document whose passages all have the vector."""
    await engine.upsert_document(
        DocumentUpsert(
            "w",
            Document(name),
            tuple(Passage(index, text, location=page) for index, text in enumerate(passages)),
            (PassageVectors(SPACE, np.arange(len(passages)), np.tile(VECTOR, (len(passages), 1))),),
        )
    )


async def _found(engine: EmbeddedEngine) -> set[str]:
    """Returns texts and places of all passages, as a search has them."""
    variant = QueryVariant("version", vectors={SPACE: VECTOR})
    result = await engine.search_passages(SearchRequest("w", (variant,)))
    return {f"{hit.passage.text} {hit.passage.location}".strip() for hit in result.hits}
