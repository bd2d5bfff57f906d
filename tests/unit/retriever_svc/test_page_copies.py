"""Copies of rows that SQLite left in the unused middle of pages go with the purge as well."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.store.store import Store
from retriever_svc.searches import SearchMode
from tests.fakes.folder_bytes import files_with
from tests.fakes.page_copies import plant
from tests.fakes.purged_folders import (
    HOURS_4,
    PER_DOCUMENT,
    SOON,
    engine_over,
    fill,
    until,
    wait_for_purges,
    word,
)
from tests.fakes.retrieval import found, request
from tests.fakes.snapshot_folders import counted

COPY = b"copie d'une ligne effacee, dans le milieu d'une page"


async def planted(data: Path) -> None:
    """Makes a store whose last change is a deletion, and that keeps a copy of a row."""
    async with engine_over(data, HOURS_4) as engine:
        await fill(engine)
        await engine.delete_document("docs", "d7")
    plant(data / "store.sqlite3", COPY)
    assert files_with(data, [COPY]) == {"store.sqlite3": 1}


async def assert_whole(engine: EmbeddedEngine) -> None:
    """Asserts that everything but the deleted document is found."""
    described = await engine.describe_workspace("docs")
    near = await engine.search_passages(request(word(69), mode=SearchMode.LEXICAL))
    assert described.passage_count == 19 * PER_DOCUMENT
    assert found(near) == [f"passage {word(69)}"]


async def test_a_small_store_is_written_anew(tmp_path: Path) -> None:
    """No page keeps what it once held, and everything that was not deleted is there."""
    await planted(tmp_path)
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await wait_for_purges(registry)
        left = files_with(tmp_path, [COPY])
        await assert_whole(engine)
    with sqlite3.connect(tmp_path / "store.sqlite3") as store:
        verdict = store.execute("PRAGMA integrity_check").fetchone()
    store.close()

    assert left == {}
    assert verdict == ("ok",)


async def test_a_large_store_is_not(tmp_path: Path) -> None:
    """Changes would wait too long: the purge ends without it."""
    await planted(tmp_path)
    registry = CollectorRegistry()
    settings = EmbeddedSettings(tmp_path, purge_within_s=SOON)
    engine = EmbeddedEngine(replace(settings, vacuum_limit_bytes=1_000), registry=registry)
    try:
        await wait_for_purges(registry)
        await assert_whole(engine)
    finally:
        engine.close()

    assert files_with(tmp_path, [COPY]) == {"store.sqlite3": 1}


async def test_without_the_room_it_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk only delays it: nothing is lost, the failure is counted, changes go on."""
    await planted(tmp_path)
    monkeypatch.setattr("retriever_svc.embedded.purges._RETRY_PAUSE_S", 0.05)
    vacuum = Store.vacuum
    failures = 2

    def failing(self: Store) -> None:
        nonlocal failures
        if failures:
            failures -= 1
            raise sqlite3.OperationalError("database or disk is full")
        vacuum(self)

    monkeypatch.setattr(Store, "vacuum", failing)
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await wait_for_purges(registry)
        await assert_whole(engine)

    assert counted(registry, "purge_failed") == 2
    assert files_with(tmp_path, [COPY]) == {}


async def test_a_dropped_workspace_leaves_no_copies(tmp_path: Path) -> None:
    """Its rows are gone within seconds, and what pages kept of them, whatever time is set."""
    await planted(tmp_path)
    async with engine_over(tmp_path, HOURS_4) as engine:
        await engine.delete_workspace("docs")
        await until(lambda: files_with(tmp_path, [COPY]) == {})


async def test_a_reader_from_outside_reads_on(tmp_path: Path) -> None:
    """It sees the state it began with; only the end of the purge waits for it."""
    await planted(tmp_path)
    registry = CollectorRegistry()
    outside = sqlite3.connect(tmp_path / "store.sqlite3", isolation_level=None)
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        outside.execute("BEGIN")
        (before,) = outside.execute("SELECT count(*), max(id) FROM passages").fetchall()
        await until(lambda: registry.get_sample_value("retriever_log_held") == 1)
        (after,) = outside.execute("SELECT count(*), max(id) FROM passages").fetchall()
        await assert_whole(engine)
        outside.close()
        await wait_for_purges(registry)

    assert before == after
    assert files_with(tmp_path, [COPY]) == {}
