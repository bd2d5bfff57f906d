"""How a BM25 index on disk is trusted, caught up or built anew."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from retriever_svc.embedded.lexical import lexical_index as lexical_index_module
from retriever_svc.embedded.lexical.catch_up import catch_up
from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.embedded.store.sqlite_tables import SqliteTables
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import (
    find_workspace,
    insert_workspace,
    prune_removals,
)
from retriever_svc.store.document_removal import delete_document
from retriever_svc.store.upserts import upsert_document
from retriever_svc.workspaces import WorkspaceLanguage, WorkspaceSettings
from tests.fakes.retrieval import upsert

NOW = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A store with the workspace `docs` and three documents, changes 1 to 3."""
    store = Store(tmp_path / "store.sqlite3")
    insert_workspace(store.connection, "docs", WorkspaceSettings(), NOW)
    for name in ("eau", "feu", "air"):
        upsert_document(SqliteTables(store.connection), upsert(name, [f"texte sur {name}"]), NOW)
    yield store.connection
    store.close()


def opened(path: Path, workspace_id: int = 1, identity: str = "store") -> LexicalIndex:
    """Opens the index that lies in the folder."""
    return LexicalIndex(
        path / "lexical",
        store_identity=identity,
        workspace_id=workspace_id,
        language=WorkspaceLanguage.FRENCH,
        settings=LexicalSettings(),
    )


def words_found(index: LexicalIndex) -> set[str]:
    """Returns which of the words a search finds."""
    searcher = index.searcher()
    words = ("eau", "feu", "air", "terre")
    return {word for word in words if searcher.search(searcher.analyse(word), 5)}


def caught_up(path: Path, connection: sqlite3.Connection) -> LexicalIndex:
    """Opens the index and brings it up to date, as a start does."""
    index = opened(path)
    catch_up(index, connection, find_workspace(connection, "docs"))
    return index


def test_a_new_index_takes_in_everything(tmp_path: Path, connection: sqlite3.Connection) -> None:
    """Nothing on disk: all passages are indexed."""
    index = caught_up(tmp_path, connection)

    assert words_found(index) == {"eau", "feu", "air"}
    assert index.seq == 3


def test_an_index_that_is_up_to_date_is_left_alone(
    tmp_path: Path, connection: sqlite3.Connection
) -> None:
    """Opening it again writes nothing."""
    caught_up(tmp_path, connection).rest()
    (folder,) = (tmp_path / "lexical").iterdir()
    before = (folder / "meta.json").read_bytes()
    index = caught_up(tmp_path, connection)

    assert not index.writer_open
    assert (folder / "meta.json").read_bytes() == before
    assert words_found(index) == {"eau", "feu", "air"}


def test_missed_changes_are_caught_up(tmp_path: Path, connection: sqlite3.Connection) -> None:
    """Additions, replacements and deletions after the watermark are applied."""
    caught_up(tmp_path, connection).rest()
    delete_document(SqliteTables(connection), "docs", "eau")
    upsert_document(SqliteTables(connection), upsert("feu", ["texte sur la terre"]), NOW)
    index = caught_up(tmp_path, connection)

    assert words_found(index) == {"air", "terre"}
    assert len(index.searcher()) == 2


def test_an_index_ahead_of_its_watermark_is_caught_up_without_harm(
    tmp_path: Path, connection: sqlite3.Connection
) -> None:
    """A kill between commit and note: applying the changes again doubles nothing."""
    index = caught_up(tmp_path, connection)
    note = (tmp_path / "lexical.json").read_bytes()
    upsert_document(SqliteTables(connection), upsert("terre", ["texte sur la terre"]), NOW)
    catch_up(index, connection, find_workspace(connection, "docs"))
    index.rest()
    (tmp_path / "lexical.json").write_bytes(note)
    again = caught_up(tmp_path, connection)

    assert words_found(again) == {"eau", "feu", "air", "terre"}
    assert len(again.searcher()) == 4


def test_forgotten_removals_force_a_rebuild(tmp_path: Path, connection: sqlite3.Connection) -> None:
    """Where nobody knows what was removed since, everything is indexed anew."""
    caught_up(tmp_path, connection).rest()
    removal, _ = delete_document(SqliteTables(connection), "docs", "eau")
    prune_removals(connection, 1, removal.seq)
    index = caught_up(tmp_path, connection)

    assert words_found(index) == {"feu", "air"}
    assert len(index.searcher()) == 2


def test_an_index_newer_than_the_store_is_rebuilt(
    tmp_path: Path, connection: sqlite3.Connection
) -> None:
    """After an older backup was restored, the index must not find what the store has not."""
    index = caught_up(tmp_path, connection)
    index.commit(99)
    index.rest()
    again = caught_up(tmp_path, connection)

    assert (again.seq, words_found(again)) == (3, {"eau", "feu", "air"})


@pytest.mark.parametrize(
    "damage", ["no note", "torn note", "no meta", "torn meta", "old meta", "no terms"]
)
def test_a_damaged_index_is_rebuilt(
    tmp_path: Path, connection: sqlite3.Connection, damage: str
) -> None:
    """Whatever is missing or torn, the start goes on with a new index."""
    index = caught_up(tmp_path, connection)
    (folder,) = (tmp_path / "lexical").iterdir()
    old_meta = (folder / "meta.json").read_bytes()
    index.apply([], [])
    index.commit(3)
    index.rest()
    note, meta = tmp_path / "lexical.json", folder / "meta.json"
    match damage:
        case "no note":
            note.unlink()
        case "torn note":
            note.write_bytes(note.read_bytes()[:20])
        case "no meta":
            meta.unlink()
        case "torn meta":
            meta.write_bytes(meta.read_bytes()[:40])
        case "no terms":
            next(folder.glob("*.term")).unlink()
        case "old meta":
            meta.write_bytes(old_meta)
            tampered = orjson.loads(note.read_bytes())
            tampered["opstamp"] += 1000
            note.write_bytes(orjson.dumps(tampered))
    again = caught_up(tmp_path, connection)

    assert words_found(again) == {"eau", "feu", "air"}
    assert len(again.searcher()) == 3


def test_a_foreign_index_is_not_used(tmp_path: Path, connection: sqlite3.Connection) -> None:
    """An index of another store or another workspace starts empty here."""
    caught_up(tmp_path, connection).rest()
    other_store = opened(tmp_path, identity="another store")
    other_store.rest()
    caught_up(tmp_path, connection).rest()
    other_workspace = opened(tmp_path, workspace_id=2)

    assert (other_store.seq, words_found(other_store)) == (0, set())
    assert (other_workspace.seq, words_found(other_workspace)) == (0, set())


def test_another_analysis_rebuilds_the_index(
    tmp_path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the same text gives other terms, no index of before may answer."""
    caught_up(tmp_path, connection).rest()
    monkeypatch.setattr(lexical_index_module, "LAYOUT", "another")
    index = opened(tmp_path)
    before = index.seq
    catch_up(index, connection, find_workspace(connection, "docs"))

    assert before == 0
    assert words_found(index) == {"eau", "feu", "air"}


def test_what_was_not_committed_is_forgotten(
    tmp_path: Path, connection: sqlite3.Connection
) -> None:
    """After an error, what was half applied does not slip into the next commit."""
    index = caught_up(tmp_path, connection)
    index.apply([1], [])
    index.discard()
    upsert_document(SqliteTables(connection), upsert("terre", ["texte sur la terre"]), NOW)
    catch_up(index, connection, find_workspace(connection, "docs"))

    assert words_found(index) == {"eau", "feu", "air", "terre"}
