"""The retriever on a disk without space: writes are refused, all else goes on, space heals."""

import resource
from collections.abc import Iterator
from pathlib import Path

import grpc
import grpc.aio
import pytest

from justesse.retriever.v1 import workspaces_pb2
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.changes import change, noted_change
from tests.faults.comparison import LEXICAL, compare
from tests.faults.connection import connected, create_workspace
from tests.faults.ledger import GONE, Ledger
from tests.faults.small_disk import SmallDisk, small_disk

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

DISK_MEBIBYTES = 12
RESERVE_BYTES = 2 * 2**20
FILLING = ["remplissage " * 5_000] * 4
MOST_FILLINGS = 200
SMALL = 12


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk that is soon full."""
    with small_disk(tmp_path / "disk", DISK_MEBIBYTES) as disk:
        yield disk


@pytest.fixture
def on_small_disk(tmp_path: Path, disk: SmallDisk) -> Iterator[RetrieverProcess]:
    """A retriever that is not started yet, over the small disk."""
    settings = {"DISK_RESERVE_BYTES": str(RESERVE_BYTES)}
    process = RetrieverProcess(tmp_path, disk.path / "data", settings)
    yield process
    process.kill()


async def write_small(client: RetrieverClient, ledger: Ledger) -> None:
    """Stores the documents that are compared later."""
    await create_workspace(client)
    await create_workspace(client, "filling")
    for number in range(1, SMALL + 1):
        await noted_change(client, ledger, f"doc{number}", number)


async def fill(client: RetrieverClient) -> grpc.StatusCode:
    """Stores large documents until one is refused; returns how."""
    for number in range(MOST_FILLINGS):
        try:
            await client.put(f"large{number}", FILLING, workspace="filling")
        except grpc.aio.AioRpcError as error:
            return error.code()
    raise AssertionError("the disk never became full")


async def check_while_full(client: RetrieverClient, ledger: Ledger, first: int) -> None:
    """Everything stored is found, and documents can be deleted for good."""
    await compare(client, ledger, "full")
    for number in range(first, first + 4):
        await noted_change(client, ledger, f"doc{number}", GONE)
    gone = await client.find(f"constantedoc{first}", mode=LEXICAL)
    assert not gone.hits
    await compare(client, ledger, "deleted while full")


async def test_a_full_disk_refuses_writes_only_and_space_heals(
    on_small_disk: RetrieverProcess, disk: SmallDisk, ledger: Ledger
) -> None:
    """Reads and deletions go on, also after a kill and a start on the full disk; with space, the
    same process takes writes again; nothing acknowledged is lost."""
    process = on_small_disk
    process.start()
    async with connected(process) as client:
        await write_small(client, ledger)
        refused = await fill(client)
        refused_again = await fill(client)
        await check_while_full(client, ledger, first=1)
    process.kill()
    process.start()
    async with connected(process) as client:
        await check_while_full(client, ledger, first=5)
        await client.workspaces.DeleteWorkspace(
            workspaces_pb2.DeleteWorkspaceRequest(slug="filling")
        )
        await compare(client, ledger, "a workspace deleted while full")
        disk.resize(DISK_MEBIBYTES * 4)
        await noted_change(client, ledger, "doc1", 100)
        await create_workspace(client, "filling")
        await client.put("large", FILLING, workspace="filling")
        await compare(client, ledger, "space again")
    process.kill()
    process.start()
    async with connected(process) as client:
        await compare(client, ledger, "after a restart")

    assert refused is refused_again is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_files_that_may_not_grow_are_like_a_full_disk(
    process: RetrieverProcess, ledger: Ledger
) -> None:
    """A limit on the size of files refuses writes only, and its end heals without a restart."""
    process.start()
    async with connected(process) as client:
        await write_small(client, ledger)
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        largest = max(file.stat().st_size for file in process.data.rglob("*") if file.is_file())
        limit = max(largest, 2 * 2**20) + 100_000
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, hard))
        refused = await fill(client)
        await check_while_full(client, ledger, first=1)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        await change(client, "doc1", 100)
        ledger.settle("doc1", 100)
        await client.put("large", FILLING, workspace="filling")
        await compare(client, ledger, "limit lifted")
    process.kill()
    process.start()
    async with connected(process) as client:
        await compare(client, ledger, "after a restart")

    assert refused is grpc.StatusCode.RESOURCE_EXHAUSTED
