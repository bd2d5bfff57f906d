"""The retriever killed at each named point: which of the two states it keeps, and what a caller
that repeats the interrupted change is told."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import dataclass

import grpc
import grpc.aio
import pytest

from justesse.retriever.v1 import documents_pb2, workspaces_pb2
from retriever_svc.embedded.failpoints import Failpoint
from tests.fakes.folder_bytes import files_with, indexed_entries
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.changes import PASSAGES, change, noted_change, texts_of
from tests.faults.comparison import LEXICAL, compare
from tests.faults.connection import connected, create_workspace
from tests.faults.ledger import GONE, Ledger

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

UNCOMMITTED = {Failpoint.ROWS_WRITTEN, Failpoint.BEFORE_COMMIT}
COMMITTED = {
    Failpoint.BEFORE_INDEX,
    Failpoint.INDEX_WRITTEN,
    Failpoint.DELETE_TOMBSTONED,
    Failpoint.BEFORE_ACKNOWLEDGEMENT,
}
OF_SNAPSHOTS = [
    Failpoint.SNAPSHOT_WRITTEN,
    Failpoint.SNAPSHOT_RENAMED,
    Failpoint.SNAPSHOT_BEFORE_MANIFEST,
]
OF_PURGES = [
    Failpoint.COMPACTION_BUILT,
    Failpoint.COMPACTION_EXCHANGED,
    Failpoint.PURGED_BEFORE_NOTE,
]
MOST_CHANGES = 500
DOCUMENTS = 12
REDUCED_HITS = (4,)
SOAK_HITS = (2, 3, 4, 5, 6, 9)


OF_WORKSPACES = [Failpoint.BEFORE_COMMIT, Failpoint.WORKSPACE_RETIRED]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The change that was on its way, and the acknowledged version before it."""

    document: str
    version: int
    before: int


async def write_all(client: RetrieverClient, ledger: Ledger) -> None:
    """Creates the workspace and all documents, enough for a graph with a snapshot."""
    await create_workspace(client)
    for number in range(DOCUMENTS):
        await noted_change(client, ledger, f"doc{number}", 1_000 + number)


async def work_until_killed(client: RetrieverClient, ledger: Ledger) -> Interrupted:
    """Replaces, deletes and recreates documents in turn until the process is gone."""
    known = ledger.read().acknowledged
    for number in range(1, MOST_CHANGES):
        document = f"doc{number % DOCUMENTS}"
        version = GONE if number % 5 == 0 else number
        try:
            await noted_change(client, ledger, document, version)
        except grpc.aio.AioRpcError:
            return Interrupted(document, version, known.get(document, GONE))
        known[document] = version
    raise AssertionError("the process never came to its point")


async def stored_version(client: RetrieverClient, document: str) -> int:
    """Reads the version of a document from its content hash."""
    try:
        stored = await client.documents.GetDocument(
            documents_pb2.GetDocumentRequest(workspace="docs", external_id=document)
        )
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        return GONE
    return int(stored.document.content_hash.removeprefix("version "))


async def repeat(client: RetrieverClient, interrupted: Interrupted, *, stored: bool) -> None:
    """Repeats the change: the answer says whether it had been stored, and it is there once."""
    answer = await change(client, interrupted.document, interrupted.version)
    if isinstance(answer, documents_pb2.DeleteDocumentResponse):
        assert answer.deleted is not stored
        return
    unchanged = answer.outcome == documents_pb2.UPSERT_OUTCOME_UNCHANGED
    assert unchanged is stored
    assert answer.passage_count == PASSAGES


def test_no_point_is_left_out() -> None:
    """Each named point is one at which a test here ends the process."""
    tested = {*UNCOMMITTED, *COMMITTED, *OF_SNAPSHOTS, *OF_PURGES, *OF_WORKSPACES}

    assert tested == set(Failpoint)


@pytest.mark.parametrize("point", sorted(UNCOMMITTED | COMMITTED))
async def test_each_point_leaves_the_state_before_or_after(
    process: RetrieverProcess, ledger: Ledger, soak: bool, point: Failpoint
) -> None:
    """Up to the commit nothing of the change is there, from the commit on all of it is; repeated,
    it ends in the same state as if nothing had happened."""
    process.start()
    async with connected(process) as client:
        await write_all(client, ledger)
    for hit in SOAK_HITS if soak else REDUCED_HITS:
        process.kill()
        process.start(f"{point}:{hit}:kill")
        async with connected(process) as client:
            interrupted = await work_until_killed(client, ledger)
        process.kill()
        process.start()
        async with connected(process) as client:
            version = await stored_version(client, interrupted.document)
            stored = point not in UNCOMMITTED
            assert version == (interrupted.version if stored else interrupted.before)
            await compare(client, ledger, f"{point}, hit {hit}")
            await repeat(client, interrupted, stored=stored)
            ledger.settle(interrupted.document, interrupted.version)
            await compare(client, ledger, f"{point}, hit {hit}, repeated")


@pytest.mark.parametrize("point", OF_SNAPSHOTS)
async def test_an_interrupted_snapshot_leaves_nothing_behind(
    process: RetrieverProcess, ledger: Ledger, soak: bool, point: Failpoint
) -> None:
    """Interrupted at the first snapshot, or at one that follows a whole one: nothing acknowledged
    is lost, and only the files that a manifest names are there after the next start."""
    process.start(f"{point}:1:kill")
    await write_until_snapshot(process, ledger, first=True)
    for number in range(6 if soak else 1):
        process.start()
        async with connected(process) as client:
            await compare(client, ledger, f"{point}, snapshot {number}")
        check_files(process)
        assert process.stop() == 0
        assert list(process.data.rglob("dense/*/manifest"))
        process.start(f"{point}:1:kill")
        await write_until_snapshot(process, ledger)
    process.start()
    async with connected(process) as client:
        await compare(client, ledger, f"{point}, at last")
    check_files(process)


async def write_until_snapshot(
    process: RetrieverProcess, ledger: Ledger, *, first: bool = False
) -> None:
    """Replaces all documents, then stops; on the way the process comes to its point and dies."""
    async with connected(process) as client:
        with suppress(grpc.aio.AioRpcError):
            if first:
                await create_workspace(client)
            version = 1 + max(ledger.read().acknowledged.values(), default=0)
            for number in range(DOCUMENTS):
                await noted_change(client, ledger, f"doc{number}", version + number)
    assert process.stop() == -signal.SIGKILL, process.log
    process.kill()


def check_files(process: RetrieverProcess) -> None:
    """Finds at most one manifest and the few segments it names."""
    files = [path.name for path in process.data.rglob("dense/*/*")]
    assert files.count("manifest") <= 1
    assert all(name == "manifest" or name.endswith(".segment") for name in files), files
    assert len(files) <= 3, files


@pytest.mark.parametrize("point", OF_PURGES)
async def test_an_interrupted_purge_is_begun_anew(
    process: RetrieverProcess, ledger: Ledger, soak: bool, point: Failpoint
) -> None:
    """Killed while it removes the bytes of a deleted document: nothing else is lost, and after the
    next start they go."""
    process.start()
    async with connected(process) as client:
        await write_all(client, ledger)
    for number in range(6 if soak else 1):
        process.stop()
        process.start(f"{point}:1:kill")
        async with connected(process) as client:
            await noted_change(client, ledger, f"doc{number}", GONE)
        assert process.wait(30) == -signal.SIGKILL
        process.start()
        async with connected(process) as client:
            await compare(client, ledger, f"{point}, purge {number}")
        gone = [text.encode() for text in texts_of(f"doc{number}", 1_000 + number)]
        await gone_from_all_files(process, gone, PASSAGES * (DOCUMENTS - 1 - number))
        async with connected(process) as client:
            await compare(client, ledger, f"{point}, purge {number} ended")


async def gone_from_all_files(
    process: RetrieverProcess, traces: list[bytes], passage_count: int
) -> None:
    """Waits until no file holds any of these bytes, and the BM25 index nothing deleted."""
    for _ in range(600):
        left = files_with(process.data, traces)
        if not left and indexed_entries(process.data) == [(passage_count, 0)]:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{left}, {indexed_entries(process.data)}")


@pytest.mark.parametrize("point", OF_WORKSPACES)
async def test_an_interrupted_drop_of_a_workspace_is_all_or_nothing(
    process: RetrieverProcess, ledger: Ledger, point: Failpoint
) -> None:
    """It is whole or gone, files included; created anew it is empty, and others do not notice."""
    process.start()
    async with connected(process) as client:
        await create_workspace(client)
        await create_workspace(client, "dropped")
        for number in range(1, 4):
            await noted_change(client, ledger, f"doc{number}", number)
            await client.put("same", texts_of("same", number), workspace="dropped")
    process.kill()
    process.start(f"{point}:1:kill")
    drop = workspaces_pb2.DeleteWorkspaceRequest(slug="dropped")
    async with connected(process) as client:
        with pytest.raises(grpc.aio.AioRpcError):
            await client.workspaces.DeleteWorkspace(drop)
    process.kill()
    process.start()
    async with connected(process) as client:
        if point in UNCOMMITTED:
            whole = await client.find("texte", workspace="dropped", mode=LEXICAL)
            await client.workspaces.DeleteWorkspace(drop)
            assert len(whole.hits) == PASSAGES
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.find("texte", workspace="dropped", mode=LEXICAL)
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
        assert len(list((process.data / "workspaces").iterdir())) == 1
        await create_workspace(client, "dropped")
        empty = await client.find("texte", workspace="dropped", mode=LEXICAL)
        assert not empty.hits
        await compare(client, ledger, point)
