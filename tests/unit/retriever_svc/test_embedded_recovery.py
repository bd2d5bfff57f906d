"""What the embedded engine does when a disk, an index or a thread fails it."""

import asyncio
import sqlite3
from itertools import count
from pathlib import Path

import pytest

from chassis.errors import ResourceExhausted, Unavailable
from retriever_svc.documents import UpsertOutcome
from retriever_svc.embedded import upkeep as upkeep_module
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.published_state import PublishedState
from retriever_svc.embedded.store.deletions import purge_retired_rows
from retriever_svc.embedded.store.store import Store
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.embedded_engines import opened
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, upsert, vector


async def test_a_full_disk_refuses_writes_and_lets_reads_go_on(tmp_path: Path) -> None:
    """The large change is refused, the small one beside it is not, and space brings recovery."""
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["eau"]))
        await set_max_pages(engine, 60)
        large = upsert("large", [f"feu {n} " * 2_000 for n in range(60)])
        outcomes = await asyncio.gather(
            engine.upsert_document(large),
            engine.upsert_document(upsert("small", ["air"])),
            return_exceptions=True,
        )
        found_meanwhile = found(await engine.search_passages(request("eau")))
        await set_max_pages(engine, 100_000)
        receipt = await engine.upsert_document(large)

    assert isinstance(outcomes[0], ResourceExhausted)
    assert not isinstance(outcomes[1], BaseException)
    assert found_meanwhile == ["eau"]
    assert receipt.outcome is UpsertOutcome.CREATED


async def set_max_pages(engine: EmbeddedEngine, pages: int) -> None:
    """Limits the size of the database, as a full disk would."""
    connection = engine._writer._store.connection
    await asyncio.to_thread(connection.execute, f"PRAGMA max_page_count = {pages}")


async def test_a_change_the_index_cannot_take_in_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told to repeat; once the index works, the change is found, only once."""
    commit = LexicalIndex.commit

    def failing(self: LexicalIndex, seq: int) -> None:
        raise OSError("No space left on device")

    given = upsert("b", ["feu"], vectors=[passage_vectors([[0, 1, 0, 0]])])
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["eau"]))
        monkeypatch.setattr(LexicalIndex, "commit", failing)
        for _ in range(2):
            with pytest.raises(Exception, match="did not take it in yet; repeat"):
                await engine.upsert_document(given)
        meanwhile = await engine.search_passages(request("eau feu"))
        monkeypatch.setattr(LexicalIndex, "commit", commit)
        receipt = await engine.upsert_document(given)
        result = await engine.search_passages(request("feu", {SPACE: vector(0, 1, 0, 0)}))

    assert found(meanwhile) == ["eau"]
    assert receipt.outcome is UpsertOutcome.UNCHANGED
    assert [(hit.passage.text, len(hit.places)) for hit in result.hits] == [("feu", 2)]


async def test_a_workspace_that_cannot_be_loaded_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is unavailable, not unknown, while the others answer; and it comes back by itself."""
    async with opened(tmp_path) as engine:
        for slug in ("sound", "sick"):
            await engine.create_workspace(slug, WorkspaceSettings())
            await engine.upsert_document(upsert("a", ["eau"], workspace=slug))
    searcher = LexicalIndex.searcher
    monkeypatch.setattr(upkeep_module, "_RETRY_PAUSE_S", 0.01)
    monkeypatch.setattr(LexicalIndex, "searcher", _failing_for_workspace_2)
    async with opened(tmp_path) as engine:
        answered = await engine.search_passages(request("eau", workspace="sound"))
        with pytest.raises(Unavailable, match="not loaded yet"):
            await engine.search_passages(request("eau", workspace="sick"))
        listed = [workspace.slug for workspace in await engine.list_workspaces()]
        monkeypatch.setattr(LexicalIndex, "searcher", searcher)
        for _ in range(500):
            try:
                recovered = await engine.search_passages(request("eau", workspace="sick"))
                break
            except Unavailable:
                await asyncio.sleep(0.01)

    assert found(answered) == found(recovered) == ["eau"]
    assert listed == ["sick", "sound"]


_SEARCHER = LexicalIndex.searcher


def _failing_for_workspace_2(self: LexicalIndex) -> object:
    if self._workspace_id == 2:
        raise OSError("Input/output error")
    return _SEARCHER(self)


async def test_a_fault_while_publishing_is_told_and_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer goes on; what was committed is loaded from the store before the next change."""
    publish = PublishedState.publish

    def failing(self: PublishedState, publications: object) -> None:
        raise ZeroDivisionError

    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        monkeypatch.setattr(PublishedState, "publish", failing)
        with pytest.raises(ZeroDivisionError):
            await engine.upsert_document(upsert("a", ["eau"]))
        monkeypatch.setattr(PublishedState, "publish", publish)
        await engine.upsert_document(upsert("b", ["eau vive"]))
        result = await engine.search_passages(request("eau"))

    assert sorted(found(result)) == ["eau", "eau vive"]


async def test_an_unconfirmed_commit_is_never_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk does not confirm, the caller is told, the connection is opened anew, and
    searches show what the store really holds."""
    commit = Store.commit

    def unconfirmed(self: Store) -> None:
        commit(self)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        raise error

    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        before = engine._writer._store.connection
        monkeypatch.setattr(Store, "commit", unconfirmed)
        with pytest.raises(Unavailable, match="may or may not be stored"):
            await engine.upsert_document(upsert("a", ["eau"]))
        monkeypatch.setattr(Store, "commit", commit)
        receipt = await engine.upsert_document(upsert("a", ["eau"]))
        result = await engine.search_passages(request("eau"))

        assert engine._writer._store.connection is not before
    assert receipt.outcome is UpsertOutcome.UNCHANGED
    assert found(result) == ["eau"]


async def test_changes_after_the_end_are_refused(tmp_path: Path) -> None:
    """Nobody waits for a writer that is gone."""
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
    with pytest.raises(Unavailable, match="stopping"):
        await engine.upsert_document(upsert("a", ["eau"]))


async def test_rows_of_a_deleted_workspace_go_though_the_disk_failed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer goes on after an error of its work in the background, on a new connection."""
    commit = Store.commit
    removals = count(1)
    failing = []

    def noting_purge(connection: sqlite3.Connection, limit: int) -> bool:
        changes = connection.total_changes
        more = purge_retired_rows(connection, limit)
        # The first removal fails at its commit; a purge that finds nothing is no removal.
        if connection.total_changes > changes and next(removals) == 1:
            failing.append(connection)
        return more

    def commit_that_fails_once(self: Store) -> None:
        if self.connection not in failing:
            commit(self)
            return
        failing.clear()
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise error

    monkeypatch.setattr(upkeep_module, "purge_retired_rows", noting_purge)
    monkeypatch.setattr(Store, "commit", commit_that_fails_once)
    monkeypatch.setattr(upkeep_module, "_RETRY_PAUSE_S", 0.01)
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.create_workspace("gone", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["eau"], workspace="gone"))
        before = engine._writer._store.connection
        await engine.delete_workspace("gone")
        reader = engine._writer._store.open_reader()
        try:
            for _ in range(500):
                (rows,) = reader.execute("SELECT count(*) FROM passages").fetchone()
                if not rows:
                    break
                await asyncio.sleep(0.01)
        finally:
            reader.close()
        receipt = await engine.upsert_document(upsert("b", ["feu"]))

        assert engine._writer._store.connection is not before
    assert next(removals) > 2
    assert rows == 0
    assert receipt.outcome is UpsertOutcome.CREATED
