"""Deleted content leaves every file of the data folder: looked for byte by byte."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import DenseIndexKind, WorkspaceSettings
from tests.fakes.folder_bytes import files_with, indexed_entries
from tests.fakes.purged_folders import (
    HOURS_4,
    NOW,
    PER_DOCUMENT,
    ROWS,
    SOON,
    engine_over,
    fill,
    put,
    traces,
    until,
    wait_for_purges,
    word,
)
from tests.fakes.retrieval import SPACE, found, request, upsert
from tests.fakes.snapshot_folders import counted


async def test_deleted_bytes_leave_every_file(tmp_path: Path) -> None:
    """One document of twenty is far below the share at which anything is rebuilt by itself; after
    the time that is set nothing of it is left, and everything else is found as before."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        assert len(files_with(tmp_path, traces([7]))) >= 2
        await engine.delete_document("docs", "d7")
        await wait_for_purges(registry)
        left = files_with(tmp_path, traces([7]))
        kept = files_with(tmp_path, traces([8]))
        words = [
            found(await engine.search_passages(request(word(n), mode=SearchMode.LEXICAL)))
            for n in (69, 80)
        ]
        near = await engine.search_passages(
            request("x", {SPACE: ROWS[85]}, mode=SearchMode.DENSE, limit=1)
        )

    assert left == {}
    assert indexed_entries(tmp_path) == [(19 * PER_DOCUMENT, 0)]
    assert any(name.endswith(".segment") for name in kept)
    assert kept["store.sqlite3"] == 2 * PER_DOCUMENT
    assert words == [[f"passage {word(69)}"], [f"passage {word(80)}"]]
    assert found(near) == [f"passage {word(85)}"]
    assert files_with(tmp_path, traces([7])) == {}


async def test_replaced_bytes_leave_every_file(tmp_path: Path) -> None:
    """What a new version of a document replaces is deleted content too."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        await put(engine, [7], shift=200)
        await wait_for_purges(registry)
        left = files_with(tmp_path, traces([7]))
        kept = files_with(tmp_path, traces([7], shift=200))

    assert left == {}
    assert indexed_entries(tmp_path) == [(20 * PER_DOCUMENT, 0)]
    assert kept["store.sqlite3"] == 2 * PER_DOCUMENT


@pytest.mark.parametrize("kind", [DenseIndexKind.AUTO, DenseIndexKind.HNSW])
async def test_graphs_that_vanish_leave_no_snapshot(tmp_path: Path, kind: DenseIndexKind) -> None:
    """Every vector of the graph is replaced or deleted: its file goes."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await engine.create_workspace("docs", WorkspaceSettings(dense_index_kind=kind))
        await put(engine, range(14))
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        assert any("segment" in name for name in files_with(tmp_path, traces(range(14))))
        for document in range(8):
            await engine.delete_document("docs", f"d{document}")
        await put(engine, range(8, 14), shift=200)
        await until(lambda: files_with(tmp_path, traces(range(14))) == {})


async def test_a_restart_does_not_forget_what_is_due(tmp_path: Path) -> None:
    """Deleted before the process ended, gone when the time has come: neither before, nor never."""
    async with engine_over(tmp_path, HOURS_4) as engine:
        await fill(engine)
        await engine.delete_document("docs", "d7")
    registry = CollectorRegistry()
    async with engine_over(
        tmp_path, HOURS_4, now=NOW + timedelta(hours=1), registry=registry
    ) as engine:
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        early = files_with(tmp_path, traces([7]))
        await engine.upsert_document(upsert("other", ["autre"]))
    async with engine_over(
        tmp_path, HOURS_4, now=NOW + timedelta(hours=5), registry=registry
    ) as engine:
        await wait_for_purges(registry)
        left = files_with(tmp_path, traces([7]))

    assert any(name.endswith(".segment") for name in early)
    assert left == {}
    assert indexed_entries(tmp_path) == [(19 * PER_DOCUMENT + 1, 0)]
    assert counted(registry, "purged") == 1


async def test_a_clock_that_was_set_back_puts_nothing_off(tmp_path: Path) -> None:
    """A deletion that seems to lie in the future is purged within the usual time."""
    async with engine_over(tmp_path, HOURS_4) as engine:
        await fill(engine)
        await engine.delete_document("docs", "d7")
    registry = CollectorRegistry()
    past = NOW - timedelta(days=400)
    async with engine_over(tmp_path, SOON, now=past, registry=registry):
        await wait_for_purges(registry)

    assert files_with(tmp_path, traces([7])) == {}


async def test_a_dropped_workspace_leaves_no_bytes(tmp_path: Path) -> None:
    """At once, whatever time is set: neither in its files, nor in the store or its log."""
    async with engine_over(tmp_path, HOURS_4) as engine:
        await fill(engine)
        await engine.delete_workspace("docs")
        await until(lambda: files_with(tmp_path, traces(range(20))) == {})


async def test_a_log_from_before_a_kill_is_emptied_at_the_start(tmp_path: Path) -> None:
    """What a process that died has left in the log does not outlive the next start."""
    async with engine_over(tmp_path, HOURS_4) as engine:
        await fill(engine)
        await engine.delete_document("docs", "d7")
        log = tmp_path / "store.sqlite3-wal"
        await engine.describe_workspace("docs")
        before = log.read_bytes()
    assert any(trace in before for trace in traces([7]))
    log.write_bytes(before)
    async with engine_over(tmp_path, HOURS_4):
        await until(lambda: log.stat().st_size == 0)


async def test_deletions_during_a_purge_get_one_of_their_own(tmp_path: Path) -> None:
    """However they fall, in the end nothing of any deleted document is left."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        for document in range(10):
            await engine.delete_document("docs", f"d{document}")
            await put(engine, [document + 10], shift=200)
            await asyncio.sleep(0.05)
        gone = [*traces(range(20))]
        await until(lambda: files_with(tmp_path, gone) == {})
        described = await engine.describe_workspace("docs")

    assert described.passage_count == 10 * PER_DOCUMENT
    assert counted(registry, "purge_failed") == 0


async def test_a_reader_from_outside_only_delays_the_end(tmp_path: Path) -> None:
    """While it reads, the log keeps what it may need; the purge ends when it is gone."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        with closing(sqlite3.connect(tmp_path / "store.sqlite3")) as outside:
            outside.execute("BEGIN")
            outside.execute("SELECT count(*) FROM passages").fetchone()
            await engine.delete_document("docs", "d7")
            await until(lambda: "held" in _states(registry))
            await asyncio.sleep(0.3)
            during = counted(registry, "purged")
            await engine.upsert_document(upsert("other", ["autre"]))
        await wait_for_purges(registry)

    assert during == 0
    assert files_with(tmp_path, traces([7])) == {}


def _states(registry: CollectorRegistry) -> set[str]:
    return {"held"} if registry.get_sample_value("retriever_log_held") else set()
