"""A backup that takes long: changes go on beside it, and the log it holds is bounded."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chassis.errors import ResourceExhausted
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.store.backup import back_up
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.retrieval import found, request, upsert

MEBIBYTE = 2**20
LIMIT = 4 * MEBIBYTE
LARGE = ["x" * 12_000] * 20


class HaltedBackup:
    """Stands still in the middle of its copy until it is let go."""

    def __init__(self) -> None:
        self.halted = threading.Event()
        self.resumed = threading.Event()
        self.lefts: list[int] = []

    def progress(self, left: int, total: int) -> None:
        """Halts at the first call."""
        self.lefts.append(left)
        self.halted.set()
        assert self.resumed.wait(60)


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retriever_svc.embedded.store.write_ahead_log._CHECKPOINT_BYTES", MEBIBYTE)
    monkeypatch.setattr("retriever_svc.embedded.store.connections._JOURNAL_LIMIT_BYTES", 0)
    monkeypatch.setattr("retriever_svc.embedded.store.backup._STEP_PAGES", 8)


@asynccontextmanager
async def engine_over(data: Path) -> AsyncIterator[EmbeddedEngine]:
    """Opens an engine whose log may grow to four mebibytes."""
    engine = await asyncio.to_thread(EmbeddedEngine, EmbeddedSettings(data, log_limit_bytes=LIMIT))
    try:
        yield engine
    finally:
        await asyncio.to_thread(engine.close)


async def fill(engine: EmbeddedEngine) -> None:
    """Stores more than fits into the log."""
    for number in range(100):
        await engine.upsert_document(upsert(f"more{number}", LARGE))


async def test_a_long_backup_stops_no_change_and_fills_no_disk(tmp_path: Path) -> None:
    """Changes and searches go on, up to the limit of the log; the copy is that of its beginning,
    and when it is done the log is short again."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    log = data / "store.sqlite3-wal"
    backup = HaltedBackup()
    async with engine_over(data) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        for number in range(3):
            await engine.upsert_document(upsert(f"before{number}", [f"eau {number}", *LARGE]))
        copying = asyncio.create_task(asyncio.to_thread(back_up, data, copy, backup.progress))
        assert await asyncio.to_thread(backup.halted.wait, 60)
        try:
            await engine.upsert_document(upsert("during", ["feu"]))
            await engine.delete_document("docs", "before0")
            during = await engine.search_passages(request("feu", mode=SearchMode.LEXICAL))
            with pytest.raises(ResourceExhausted) as refused:
                await fill(engine)
            grown = log.stat().st_size
        finally:
            backup.resumed.set()
        await copying
        for _ in range(1_000):
            if log.stat().st_size < MEBIBYTE:
                break
            await asyncio.sleep(0.02)
        shrunk = log.stat().st_size
        await engine.upsert_document(upsert("after", ["air"]))
    async with engine_over(copy) as engine:
        page = await engine.list_documents("docs", page_size=100, after=None)

    assert backup.lefts == sorted(backup.lefts, reverse=True)
    assert len(backup.lefts) > 2
    assert found(during) == ["feu"]
    assert refused.value.reason == "LOG_FULL"
    assert LIMIT <= grown < LIMIT + 2 * MEBIBYTE
    assert shrunk < MEBIBYTE
    assert [stored.document.external_id for stored in page.documents] == [
        f"before{number}" for number in range(3)
    ]
