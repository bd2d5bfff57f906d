"""A disk that does not confirm: what was not confirmed is never acknowledged."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import grpc.aio
import pytest

from retriever_svc.embedded.failpoints import Failpoint
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.changes import noted_change
from tests.faults.comparison import compare
from tests.faults.connection import connected, create_workspace
from tests.faults.ledger import GONE, Ledger

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

CHANGES = 40
DOCUMENTS = 7
ATTACH_TIMEOUT_S = 10.0


@contextmanager
def failing_syncs(pid: int, log: Path, only: Path | None) -> Iterator[None]:
    """Lets every fifth `fdatasync` of each thread, from its third on, fail with EIO.

    `only` names a file; None stands for all. Skips where nobody may trace.
    """
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    inject = "inject=fdatasync:error=EIO:when=3+5"
    command = ["strace", "-f", "-p", str(pid), "-e", "trace=fdatasync", "-e", inject]
    if only is not None:
        command += ["-P", str(only)]
    with log.open("wb") as output:
        tracer = subprocess.Popen(command, stderr=output)
    try:
        deadline = time.monotonic() + ATTACH_TIMEOUT_S
        while "attached" not in log.read_text():
            if tracer.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"strace may not attach here: {log.read_text()}")
            time.sleep(0.01)
        yield
    finally:
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
        tracer.wait()


async def write_and_count_failures(client: RetrieverClient, ledger: Ledger) -> int:
    """Makes changes one after the other; returns how many were refused."""
    failures = 0
    for number in range(1, CHANGES + 1):
        version = GONE if number % 6 == 0 else number
        try:
            await noted_change(client, ledger, f"doc{number % DOCUMENTS}", version)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            failures += 1
    return failures


@pytest.mark.parametrize("of_store_only", [True, False], ids=["store", "store-and-indexes"])
async def test_what_the_disk_did_not_confirm_is_never_acknowledged(
    process: RetrieverProcess, ledger: Ledger, tmp_path: Path, of_store_only: bool
) -> None:
    """Callers of what failed are told; the rest is kept, in the same process and after a kill.

    A BM25 index syncs on threads that live for one commit, with more than three syncs in each: if
    its files are hit too, it never gets through, so nothing at all may be acknowledged.
    """
    only = process.data / "store.sqlite3-wal" if of_store_only else None
    process.start()
    async with connected(process) as client:
        await create_workspace(client)
        await noted_change(client, ledger, "doc1", 1_000)
        with failing_syncs(process.pid, tmp_path / "strace", only):
            failures = await write_and_count_failures(client, ledger)
        before = ledger.read()
        await noted_change(client, ledger, "last", 2_000)
        await compare(client, ledger, "the same process")
    process.kill()
    process.start()
    async with connected(process) as client:
        await compare(client, ledger, "after a kill")

    assert "EIO" in (tmp_path / "strace").read_text()
    assert 0 < failures < CHANGES if of_store_only else failures == CHANGES
    assert any(before.unanswered.values())


async def test_an_error_of_a_commit_is_told_and_nothing_of_it_stays(
    process: RetrieverProcess, ledger: Ledger
) -> None:
    """SQLite's own error at every third commit: a third of the callers is told, and what they
    sent is not there."""
    process.start(f"{Failpoint.BEFORE_COMMIT}:3:fsync-error")
    async with connected(process) as client:
        await create_workspace(client)
        failures = await write_and_count_failures(client, ledger)
        before = ledger.read()
        await compare(client, ledger, "the same process")
    process.kill()
    process.start()
    async with connected(process) as client:
        await compare(client, ledger, "after a kill")

    assert failures == (CHANGES + 1) // 3
    assert before.acknowledged == ledger.read().acknowledged
