"""Two retrievers in front of one PostgreSQL and one Milvus, killed while both are at work."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from chassis.channel import open_channel
from justesse.retriever.v1 import documents_pb2
from tests.fakes.milvus_lite import MilvusLite, running_milvus
from tests.fakes.postgres import running_postgres
from tests.fakes.retriever_client import RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.changes import Author
from tests.faults.comparison import LEXICAL, compare
from tests.faults.connection import connected, create_workspace
from tests.faults.ledger import Ledger

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7_200)]

REDUCED_ROUNDS = 1
SOAK_ROUNDS = 40
# What is in flight at a killed replica is tried again; gRPC bounds how much of that there may be.
READERS = 3
READS = 60
SEARCH = "justesse.retriever.v1.SearchService/SearchPassages"


class Replicas:
    """Two retrievers over one store and one Milvus."""

    def __init__(self, folder: Path, store_url: str, milvus: MilvusLite) -> None:
        settings = {"ENGINE": "milvus", "STORE_URL": store_url, "MILVUS_URI": milvus.uri}
        for name in ("one", "other"):
            (folder / name).mkdir()
        self.one = RetrieverProcess(folder / "one", settings=settings)
        self.other = RetrieverProcess(folder / "other", settings=settings)

    async def start(self) -> None:
        """Starts both."""
        await asyncio.gather(asyncio.to_thread(self.one.start), asyncio.to_thread(self.other.start))

    def kill(self) -> None:
        """Kills both."""
        self.one.kill()
        self.other.kill()


@pytest.fixture
async def replicas(tmp_path: Path) -> AsyncIterator[Replicas]:
    """Two running retrievers with the workspace `docs`."""
    with running_postgres() as postgres, running_milvus() as milvus:
        both = Replicas(tmp_path, postgres.new_database(), milvus)
        try:
            await both.start()
            async with connected(both.one) as client:
                await create_workspace(client)
            yield both
        finally:
            both.kill()


@asynccontextmanager
async def settled(process: RetrieverProcess) -> AsyncIterator[RetrieverClient]:
    """Connects once what others left unfinished is done: a change is answered after them all."""
    async with connected(process) as client:
        await client.documents.DeleteDocument(
            documents_pb2.DeleteDocumentRequest(workspace="docs", external_id="nobody's")
        )
        yield client


async def test_no_acknowledged_change_is_lost_with_a_replica(
    replicas: Replicas, ledger: Ledger, soak: bool
) -> None:
    """Round after round both write and are killed, one after the other: every document is as
    acknowledged, or as it was on its way to be, whole, and found through either; nothing beyond.
    """
    seed = int(os.environ.get("JUSTESSE_FAULT_SEED", "7"))
    rounds = SOAK_ROUNDS if soak else REDUCED_ROUNDS
    random = Random(seed)
    authors = [Author(name, Random(random.random())) for name in "abcd"]
    compared = number = 0
    # On a slow machine a round may end before much was acknowledged; then it takes more rounds.
    while number < rounds or min(ledger.count("acknowledged") / 5, compared / 10) <= rounds:
        number += 1
        await write_until_killed(replicas, ledger, authors, random)
        await replicas.start()
        for process in (replicas.one, replicas.other):
            async with settled(process) as client:
                compared += await compare(client, ledger, f"seed {seed}, round {number}")
        for author in authors:
            author.learn(ledger)


async def write_until_killed(
    replicas: Replicas, ledger: Ledger, authors: list[Author], random: Random
) -> None:
    """Lets two authors write through each replica until both are killed."""
    async with (
        connected(replicas.one) as one,
        connected(replicas.other) as other,
        asyncio.TaskGroup() as group,
    ):
        for at, author in enumerate(authors):
            group.create_task(author.work((one, other)[at % 2], ledger))
        for process in random.sample((replicas.one, replicas.other), 2):
            await asyncio.sleep(random.uniform(0.1, 0.6))
            process.kill()


@dataclass(slots=True)
class Reader:
    """Searches for what is there all the time, until it is told to stop."""

    client: RetrieverClient
    stopped: bool = False
    answers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def work(self) -> None:
        """Notes answers that hold it; a call that fails ends the test."""
        while not self.stopped:
            answer = await self.client.find("constante", [1, 0, 0])
            assert "first" in {hit.document.external_id for hit in answer.hits}
            self.answers.release()


async def read_on(readers: list[Reader], more: int) -> None:
    """Waits until each reader has had so many answers from now on."""
    for reader in readers:
        reader.answers = asyncio.Semaphore(0)
    for reader in readers:
        for _ in range(more):
            await reader.answers.acquire()


async def test_a_replica_is_killed_and_no_read_fails(replicas: Replicas) -> None:
    """Readers ask both in turns while documents come in; what one writes the other finds; one is
    killed, and reads and writes go on through the other.
    """
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(connected(replicas.one))
        other = await stack.enter_async_context(connected(replicas.other))
        await one.put("first", ["constante"], [[1, 0, 0]])
        addresses = ",".join((replicas.one.address, replicas.other.address))
        channel = open_channel(f"ipv4:{addresses}", idempotent_methods=[SEARCH])
        stack.push_async_callback(channel.close)
        readers = [Reader(RetrieverClient(channel)) for _ in range(READERS)]
        async with asyncio.TaskGroup() as group:
            for reader in readers:
                group.create_task(reader.work())
            for number in range(10):
                writer, finder = (one, other) if number % 2 else (other, one)
                await write(writer, finder, number)
            await read_on(readers, READS)
            replicas.one.kill()
            for number in range(10, 20):
                await write(other, other, number)
            await read_on(readers, READS)
            for reader in readers:
                reader.stopped = True


async def write(writer: RetrieverClient, finder: RetrieverClient, number: int) -> None:
    """Stores a document through one and finds it through the other at once."""
    await writer.put(f"d{number}", [f"mot{number}"], [[0, 1, number]])
    answer = await finder.find(f"mot{number}", mode=LEXICAL)
    assert [hit.document.external_id for hit in answer.hits] == [f"d{number}"]
