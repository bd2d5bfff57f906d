"""The retriever's data folder: one process at a time, no newer schema, and a log torn anywhere."""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import grpc.aio
import pytest

from retriever_svc.embedded.failpoints import Failpoint
from retriever_svc.embedded.store.schema import SCHEMA_VERSION
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.changes import noted_change
from tests.faults.comparison import compare
from tests.faults.connection import connected, create_workspace
from tests.faults.ledger import Ledger

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

EXIT_LIMIT_S = 10.0


async def write_some(process: RetrieverProcess, ledger: Ledger) -> None:
    """Creates the workspace and six documents, one of them replaced and one deleted."""
    async with connected(process) as client:
        await create_workspace(client)
        for number in range(1, 7):
            await noted_change(client, ledger, f"doc{number}", number)
        await noted_change(client, ledger, "doc2", 8)
        await noted_change(client, ledger, "doc3", 0)


async def test_a_second_process_refuses_to_start_until_the_first_is_gone(
    process: RetrieverProcess, ledger: Ledger, tmp_path: Path
) -> None:
    """It says who holds the folder and ends; the first one serves on. Once the first is killed,
    the next one takes over with everything that was acknowledged."""
    process.start()
    await write_some(process, ledger)
    (tmp_path / "second").mkdir()
    second = RetrieverProcess(tmp_path / "second", data=process.data)
    started = second.start_or_end()
    refusal = second.wait(EXIT_LIMIT_S)
    async with connected(process) as client:
        await noted_change(client, ledger, "doc7", 9)
    holder = process.pid
    process.kill()

    assert not started
    assert refusal > 0
    assert f"in use by another retriever (process {holder})" in second.log
    assert "Traceback" not in second.log
    try:
        second.start()
        async with connected(second) as client:
            await compare(client, ledger, "taken over")
            await noted_change(client, ledger, "doc8", 10)
    finally:
        second.kill()


async def test_a_newer_schema_is_refused_and_left_alone(
    process: RetrieverProcess, ledger: Ledger
) -> None:
    """The process ends with a sentence that says what to do; the build that knows the schema
    finds everything as it was."""
    process.start()
    await write_some(process, ledger)
    process.kill()
    _set_schema_version(process.data, "9999")
    started = process.start_or_end()
    refusal = process.wait(EXIT_LIMIT_S)
    log = process.log
    _set_schema_version(process.data, SCHEMA_VERSION)
    process.start()
    async with connected(process) as client:
        await compare(client, ledger, "after the refusal")

    assert not started
    assert refusal > 0
    assert "schema version 9999" in log
    assert "Traceback" not in log


def _set_schema_version(data: Path, version: str) -> None:
    with closing(sqlite3.connect(data / "store.sqlite3")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.commit()


@pytest.fixture
def without_purges(tmp_path: Path) -> Iterator[RetrieverProcess]:
    """A retriever that is not started yet, and writes nothing by itself for an hour."""
    process = RetrieverProcess(tmp_path, settings={"PURGE_WITHIN_S": "3600"})
    yield process
    process.kill()


async def test_a_log_torn_in_its_last_change_loses_that_change_alone(
    without_purges: RetrieverProcess, ledger: Ledger, tmp_path: Path, soak: bool
) -> None:
    """Cut or overwritten anywhere behind the last acknowledged change, the log is read up to
    there: the start succeeds, the indexes forget what they were ahead, new changes are kept."""
    process = without_purges
    process.start()
    await write_some(process, ledger)
    process.kill()
    process.start(f"{Failpoint.BEFORE_ACKNOWLEDGEMENT}:1:kill")
    log = process.data / "store.sqlite3-wal"
    # A start empties the log: what was acknowledged before is in the database then.
    _wait_until_empty(log)
    async with connected(process) as client:
        with pytest.raises(grpc.aio.AioRpcError):
            await noted_change(client, ledger, "doc1", 11)
    process.kill()
    whole = log.read_bytes()
    assert whole
    random = Random(5)
    for number in range(20 if soak else 3):
        # A restart that finds the log whole must see the change; the others may not.
        cut = random.randrange(len(whole))
        noise = random.randbytes(len(whole) - cut) if number % 2 else b""
        copied = tmp_path / f"torn{number}"
        shutil.copytree(process.data, copied / "data")
        (copied / "data" / log.name).write_bytes(whole[:cut] + noise)
        torn = RetrieverProcess(copied)
        own = _copied_ledger(ledger, copied)
        try:
            torn.start()
            async with connected(torn) as client:
                await compare(client, own, f"cut at {cut} of {len(whole)}")
                assert own.read().acknowledged["doc1"] == 1
                await noted_change(client, own, "doc9", 12)
            torn.kill()
            torn.start()
            async with connected(torn) as client:
                await compare(client, own, f"cut at {cut}, second start")
        finally:
            torn.kill()
            own.close()


def _wait_until_empty(log: Path) -> None:
    for _ in range(2_000):
        if not log.stat().st_size:
            return
        time.sleep(0.01)
    raise AssertionError(f"{log} still holds {log.stat().st_size} bytes")


def _copied_ledger(ledger: Ledger, folder: Path) -> Ledger:
    shutil.copy(ledger.path, folder / "ledger")
    return Ledger(folder / "ledger")
