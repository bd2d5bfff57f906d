"""The write-ahead log stays short, and bounded while somebody from outside reads the store."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from chassis.errors import ResourceExhausted
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.store.connections import open_reader, open_writer, wal_bytes
from retriever_svc.embedded.store.write_ahead_log import WriteAheadLog
from retriever_svc.embedded.upkeep_metrics import UpkeepMetrics
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.clock import FakeClock
from tests.fakes.retrieval import found, request, upsert

MEBIBYTE = 2**20
LIMIT = 4 * MEBIBYTE
LARGE = ["x" * 12_000] * 20


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retriever_svc.embedded.store.write_ahead_log._CHECKPOINT_BYTES", MEBIBYTE)
    monkeypatch.setattr("retriever_svc.embedded.store.connections._JOURNAL_LIMIT_BYTES", 0)


@asynccontextmanager
async def limited_engine(
    data: Path, registry: CollectorRegistry | None = None
) -> AsyncIterator[EmbeddedEngine]:
    """Opens an engine whose log may grow to four mebibytes, with a workspace."""
    settings = EmbeddedSettings(data, log_limit_bytes=LIMIT)
    engine = await asyncio.to_thread(EmbeddedEngine, settings, registry=registry)
    try:
        await engine.create_workspace("docs", WorkspaceSettings())
        yield engine
    finally:
        await asyncio.to_thread(engine.close)


def reading(data: Path) -> sqlite3.Connection:
    """Begins to read the store as a process from outside would, without an end."""
    outside = sqlite3.connect(data / "store.sqlite3", isolation_level=None)
    outside.execute("BEGIN")
    outside.execute("SELECT count(*) FROM passages").fetchone()
    return outside


async def fill(engine: EmbeddedEngine, prefix: str, most: int) -> str:
    """Stores large documents until one is refused, `most` at most; returns the reason."""
    for number in range(most):
        try:
            await engine.upsert_document(upsert(f"{prefix}{number}", LARGE))
        except ResourceExhausted as refused:
            return str(refused.reason)
    return ""


async def test_a_reader_without_an_end_does_not_fill_the_disk(tmp_path: Path) -> None:
    """From the limit on changes are refused, by name; searches and deletions go on. Once the reader
    is gone the same engine takes changes, and the log is short again without any being sent."""
    registry = CollectorRegistry()
    log = tmp_path / "store.sqlite3-wal"
    async with limited_engine(tmp_path, registry) as engine:
        await engine.upsert_document(upsert("first", ["eau"]))
        with closing(reading(tmp_path)):
            reason = await fill(engine, "a", 100)
            held = log.stat().st_size
            again = await fill(engine, "b", 1)
            answer = await engine.search_passages(request("eau", mode=SearchMode.LEXICAL))
            removal = await engine.delete_document("docs", "a0")
            grown = log.stat().st_size
            gauge = registry.get_sample_value("retriever_log_held")
            measured = registry.get_sample_value("retriever_log_bytes")
        for _ in range(1_000):
            if log.stat().st_size < MEBIBYTE:
                break
            await asyncio.sleep(0.02)
        shrunk = log.stat().st_size
        healed = await fill(engine, "c", 20)
        kept = log.stat().st_size

    assert reason == again == "LOG_FULL"
    assert LIMIT <= held < LIMIT + MEBIBYTE
    assert found(answer) == ["eau"]
    assert removal.deleted
    assert grown < LIMIT + 2 * MEBIBYTE
    assert gauge == 1
    assert measured is not None
    assert measured >= LIMIT
    assert shrunk < MEBIBYTE
    assert healed == ""
    assert kept < 3 * MEBIBYTE
    assert registry.get_sample_value("retriever_log_held") == 0


async def test_our_own_readers_hold_nothing(tmp_path: Path) -> None:
    """Searches, pages of documents and compactions all the while: the log never grows far."""
    log = tmp_path / "store.sqlite3-wal"
    sizes = []
    async with limited_engine(tmp_path) as engine:
        for number in range(30):
            await engine.upsert_document(upsert(f"d{number % 20}", [f"{number} eau", *LARGE[:10]]))
            await engine.search_passages(request("eau", mode=SearchMode.LEXICAL))
            await engine.list_documents("docs", page_size=20, after=None)
            sizes.append(log.stat().st_size)

    assert max(sizes) < 2.5 * MEBIBYTE


class Database:
    """A small database in WAL mode with a clock that stands still."""

    def __init__(self, path: Path) -> None:
        self.clock = FakeClock()
        self.path = path
        self.connection = open_writer(path)
        self.connection.execute("CREATE TABLE t (content TEXT)")
        registry = CollectorRegistry()
        self.log = WriteAheadLog(path, LIMIT, UpkeepMetrics(registry), self.clock)

    def write(self, mebibytes: float) -> None:
        """Commits so much."""
        content = "x" * int(mebibytes * MEBIBYTE)
        self.connection.execute("INSERT INTO t VALUES (?)", (content,))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database that is empty but for its table."""
    database = Database(tmp_path / "t.sqlite3")
    yield database
    database.connection.close()


def test_a_log_that_was_moved_is_not_due_again(database: Database) -> None:
    """Its file stays as large as it was until the next commit; that is no reason to move it."""
    database.write(1.5)
    due = database.log.due
    emptied = database.log.checkpoint(database.connection)

    assert due
    assert emptied
    assert wal_bytes(database.path) > MEBIBYTE
    assert not database.log.due
    database.write(0.1)
    assert wal_bytes(database.path) < MEBIBYTE
    database.write(1.5)
    assert database.log.due


def test_a_held_log_is_tried_each_second_and_told_once(database: Database) -> None:
    """One line when it has lasted, one when it is over."""
    database.write(1.5)
    reader = open_reader(database.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM t").fetchone()
    database.write(1.5)
    with capture_logs() as lines:
        assert not database.log.checkpoint(database.connection)
        tried = [database.log.due]
        for _ in range(25):
            database.clock.now += 0.5
            tried.append(database.log.due)
            if database.log.due:
                database.log.checkpoint(database.connection)
        assert not database.log.truncate(database.connection)
        reader.close()
        assert database.log.truncate(database.connection)

    assert tried == [False] + [False, True] * 12 + [False]
    assert [line["log_level"] for line in lines] == ["warning", "info"]
    assert "stop whatever has opened store.sqlite3" in lines[0]["event"]
    assert wal_bytes(database.path) == 0


def test_a_large_log_that_nobody_holds_is_not_full(database: Database) -> None:
    """One large change is no reason to refuse the next."""
    database.write(6)

    assert not database.log.full
    assert database.log.checkpoint(database.connection)
    assert not database.log.full
