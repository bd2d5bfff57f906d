"""BM25 indexes built anew aside, while the store goes on changing."""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retriever_svc.embedded.lexical.catch_up import catch_up
from retriever_svc.embedded.lexical.compaction import LexicalCompactor
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
from retriever_svc.store.rows import WorkspaceRow
from retriever_svc.store.upserts import upsert_document
from retriever_svc.workspaces import WorkspaceLanguage, WorkspaceSettings
from tests.fakes.retrieval import upsert

NOW = datetime(2024, 5, 1, tzinfo=UTC)
WORDS = ("eau", "feu", "air", "terre")


class Compacted:
    """A store with three documents, their index, and what compacts it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = Store(path / "store.sqlite3")
        self.connection = self.store.connection
        insert_workspace(self.connection, "docs", WorkspaceSettings(), NOW)
        for name in ("eau", "feu", "air"):
            self.put(name, name)
        self.index = LexicalIndex(
            path / "lexical",
            store_identity="store",
            workspace_id=1,
            language=WorkspaceLanguage.FRENCH,
            settings=LexicalSettings(),
        )
        catch_up(self.index, self.connection, self.row)
        self.compactor = LexicalCompactor(self.store.open_reader)

    @property
    def row(self) -> WorkspaceRow:
        """The workspace as the store has it now."""
        return find_workspace(self.connection, "docs")

    def put(self, name: str, word: str) -> None:
        """Stores a document of one passage."""
        upsert_document(SqliteTables(self.connection), upsert(name, [f"texte sur {word}"]), NOW)

    def found(self) -> set[str]:
        """Returns which of the words the index finds."""
        searcher = self.index.searcher()
        return {word for word in WORDS if searcher.search(searcher.analyse(word), 5)}

    def folders(self) -> int:
        """Counts the indexes on disk."""
        return len(list((self.path / "lexical").iterdir()))

    def close(self) -> None:
        """Closes everything."""
        self.compactor.close()
        self.index.rest()
        self.store.close()


@pytest.fixture
def compacted(tmp_path: Path) -> Iterator[Compacted]:
    """Three documents, not compacted yet."""
    with closing(Compacted(tmp_path)) as compacted:
        yield compacted


def test_changes_during_the_building_are_not_lost(compacted: Compacted) -> None:
    """Deleted, replaced and new documents are as in the store once the new index answers."""
    compacted.compactor.begin(compacted.index, compacted.row)
    delete_document(SqliteTables(compacted.connection), "docs", "eau")
    compacted.put("feu", "terre")
    compacted.put("neuf", "feu")
    floor = compacted.compactor.floor(1)
    compacted.compactor.finish(compacted.connection, compacted.row)

    assert floor == 3
    assert compacted.found() == {"feu", "air", "terre"}
    assert len(compacted.index.searcher()) == 3
    assert (compacted.index.seq, compacted.folders()) == (6, 1)
    assert compacted.compactor.workspace_id is None


def test_an_abandoned_index_leaves_the_old_one(compacted: Compacted) -> None:
    """Its folder is gone, and another compaction can begin."""
    compacted.compactor.begin(compacted.index, compacted.row)
    compacted.compactor.abandon(1)
    left = compacted.folders()
    compacted.compactor.begin(compacted.index, compacted.row)
    compacted.compactor.finish(compacted.connection, compacted.row)

    assert (left, compacted.folders()) == (1, 1)
    assert compacted.found() == {"eau", "feu", "air"}


def test_an_index_that_cannot_catch_up_is_not_used(compacted: Compacted) -> None:
    """Where nobody knows what was removed meanwhile, the old index stays in its place."""
    compacted.compactor.begin(compacted.index, compacted.row)
    while not compacted.compactor.ready:
        time.sleep(0.01)
    delete_document(SqliteTables(compacted.connection), "docs", "eau")
    compacted.put("neuf", "terre")
    prune_removals(compacted.connection, 1, 5)
    with pytest.raises(RuntimeError, match="forgotten"):
        compacted.compactor.finish(compacted.connection, compacted.row)

    assert compacted.folders() == 1
    assert compacted.found() == {"eau", "feu", "air"}
