"""BM25 segments that tantivy merges in the background, and when searches get to use them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from retriever_svc.embedded.data_folder import DataFolder
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.lexical.catch_up import catch_up
from retriever_svc.embedded.lexical.lexical_indexes import LexicalIndexes
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.embedded.merges import Merges
from retriever_svc.embedded.published_state import PublishedState
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.snapshot_reader import SnapshotReader
from retriever_svc.embedded.store.sqlite_tables import SqliteTables
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import find_workspace, insert_workspace
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.searches import SearchMode
from retriever_svc.store.upserts import upsert_document
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.embedded_engines import opened
from tests.fakes.purged_folders import NOW, until
from tests.fakes.retrieval import request, upsert

# Tantivy merges so many small segments into one.
MERGED_TOGETHER = 8
SEARCH = request("eau 3 texte", mode=SearchMode.LEXICAL)


def shown_segments(engine: EmbeddedEngine) -> int:
    """Counts the segments that searches of the workspace look at."""
    return engine._worker.submit(lambda state: state._view("docs").lexical.segment_count).result()


async def test_an_idle_index_ends_with_few_segments(tmp_path: Path) -> None:
    """Each change leaves a segment; once nothing changes any more, searches see them merged, and
    their answers, scores and numbers of changes are what they were."""
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        for number in range(MERGED_TOGETHER):
            await engine.upsert_document(upsert(f"d{number}", [f"texte {number} sur l'eau"]))
        before = await engine.search_passages(SEARCH)
        await until(lambda: shown_segments(engine) == 1)
        after = await engine.search_passages(SEARCH)

    assert len(before.hits) == MERGED_TOGETHER
    assert after.hits == before.hits
    assert after.applied_seq == before.applied_seq


class Watched:
    """A workspace with one passage that was just committed, watched at a moment a test sets."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.now = 0.0
        folder = DataFolder(path)
        stack.callback(folder.close)
        store = Store(folder.store_path)
        stack.callback(store.close)
        insert_workspace(store.connection, "docs", WorkspaceSettings(), NOW)
        upsert_document(SqliteTables(store.connection), upsert("d", ["eau"]), NOW)
        row = find_workspace(store.connection, "docs")
        indexes = LexicalIndexes(folder, store.identity, LexicalSettings())
        stack.callback(indexes.close)
        index = indexes.use(row)
        (self._terms,) = (folder.workspace_path(row.id) / "lexical").iterdir()
        catch_up(index, store.connection, row)
        worker = SearchWorker(PublishedState(SnapshotReader(store.open_reader()), DenseSettings()))
        stack.callback(worker.close)
        self.view = WorkspaceView(row, index.searcher(), DenseSettings())
        worker.submit(PublishedState.install, self.view).result()
        self.merges = Merges(store, indexes, worker, lambda: self.now)
        self.workspace_id = row.id
        self.merges.note_change(row.id)

    def merge(self) -> None:
        """Leaves what a merge leaves: another file that names the segments."""
        meta = self._terms / "meta.json"
        replaced = meta.with_suffix(".new")
        replaced.write_bytes(meta.read_bytes())
        replaced.replace(meta)

    def pauses(self, most: int = 20) -> list[float]:
        """Waits as long as each step asks for, until none asks any more or `most` did."""
        pauses: list[float] = []
        while len(pauses) < most and (pause := self.merges.step()) is not None:
            pauses.append(pause)
            self.now += pause
        return pauses


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A watched workspace."""
    with ExitStack() as stack:
        yield Watched(tmp_path, stack)


def test_looking_for_merges_ends(watched: Watched) -> None:
    """Pauses double from 50 ms; where nothing was merged, searches keep their searcher."""
    searcher = watched.view.lexical
    pauses = watched.pauses()

    assert pauses == pytest.approx([0.05 * 2**k for k in range(9)])
    assert watched.view.lexical is searcher
    assert watched.merges.step() is None


def test_a_merge_is_shown_and_looked_after(watched: Watched) -> None:
    """Searches get the merged segments at the next look, and the pauses begin anew: merges may
    follow one another."""
    searcher = watched.view.lexical
    watched.pauses(most=3)
    watched.merge()
    pauses = watched.pauses()

    assert pauses == pytest.approx([0.05 * 2**k for k in range(9)])
    assert watched.view.lexical is not searcher
    assert len(watched.view.lexical.search(watched.view.lexical.analyse("eau"), 5)) == 1


def test_a_deleted_workspace_is_not_looked_at(watched: Watched) -> None:
    """Nothing is left to be done for it."""
    watched.merges.forget(watched.workspace_id)

    assert watched.merges.step() is None
