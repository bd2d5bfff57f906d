"""The retriever alone, killed at any moment: nothing acknowledged is lost, nothing half-written."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import grpc.aio
import numpy as np
import pytest

from justesse.retriever.v1 import documents_pb2, search_pb2, workspaces_pb2
from tests.fakes.retriever_client import SPACE, RetrieverClient
from tests.fakes.retriever_process import RetrieverProcess

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

DOCUMENTS = 40
PASSAGES = 3
CLIENTS = 4


@pytest.fixture
def process(tmp_path: Path) -> Iterator[RetrieverProcess]:
    """A running retriever."""
    process = RetrieverProcess(tmp_path)
    process.start()
    yield process
    process.kill()


def connected(process: RetrieverProcess) -> grpc.aio.Channel:
    """Opens a channel to the process as it runs now."""
    return grpc.aio.insecure_channel(process.address)


async def create_workspace(process: RetrieverProcess) -> None:
    """Creates the workspace `docs`."""
    async with connected(process) as channel:
        await RetrieverClient(channel).workspaces.CreateWorkspace(
            workspaces_pb2.CreateWorkspaceRequest(slug="docs")
        )


async def test_an_acknowledged_upsert_survives_a_kill(process: RetrieverProcess) -> None:
    """Killed right after the acknowledgement and started again, the same search gives the same
    hits with the same scores."""
    await create_workspace(process)
    query = ("eau de source", [1, 2, 3])
    async with connected(process) as channel:
        client = RetrieverClient(channel)
        for number in range(10):
            await client.put(f"doc-{number}", [f"eau numéro {number}"], [[1, number, 2]])
        await client.put("last", ["l'eau de source"], [[1, 2, 3]])
        before = await client.find(*query)
    process.kill()
    process.start()
    async with connected(process) as channel:
        after = await RetrieverClient(channel).find(*query)

    assert before.hits[0].document.external_id == "last"
    assert after.hits == before.hits
    assert (after.applied_seq, after.spaces_version) == (before.applied_seq, before.spaces_version)


@dataclass
class Ledger:
    """What the clients know: the acknowledged version of each document, and what was on its way.

    Version 0 means that the document does not exist.
    """

    acknowledged: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(DOCUMENTS), 0))
    on_its_way: dict[int, int] = field(default_factory=dict)
    count: int = 0
    _goal: int = 0
    _reached: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledge(self, document: int, version: int) -> None:
        """Notes that a call came back."""
        self.acknowledged[document] = version
        del self.on_its_way[document]
        self.count += 1
        if self.count >= self._goal:
            self._reached.set()

    async def reach(self, goal: int) -> None:
        """Waits until so many calls came back."""
        self._goal = goal
        self._reached.clear()
        await self._reached.wait()

    def possible(self, document: int) -> set[int]:
        """Returns the versions the store may hold."""
        known = self.acknowledged[document]
        return {known, self.on_its_way.get(document, known)}


def texts_of(document: int, version: int) -> list[str]:
    """Returns the passages of a version; one of them never changes."""
    changing = [f"jeton{document}v{version}p{place} du texte" for place in range(1, PASSAGES)]
    return [f"constante{document} du texte", *changing]


def rows_of(document: int, version: int) -> list[list[float]]:
    """Returns the vectors of a version, unlike those of any other."""
    generator = np.random.default_rng([document, version])
    rows: list[list[float]] = generator.standard_normal((PASSAGES, 3)).tolist()
    return rows


async def write(client: RetrieverClient, ledger: Ledger, document: int, version: int) -> None:
    """Stores or (version 0) deletes a document and notes both ends of the call."""
    ledger.on_its_way[document] = version
    if version:
        rows = rows_of(document, version)
        await client.put(f"doc-{document}", texts_of(document, version), rows)
    else:
        await client.documents.DeleteDocument(
            documents_pb2.DeleteDocumentRequest(workspace="docs", external_id=f"doc-{document}")
        )
    ledger.acknowledge(document, version)


async def work(client: RetrieverClient, ledger: Ledger, mine: range, random: Random) -> None:
    """Changes its own documents until the process is gone."""
    version = 1 + max((ledger.acknowledged[document] for document in mine), default=0)
    while True:
        version += 1
        document = random.choice(mine)
        try:
            deleting = random.random() < 0.2
            await write(client, ledger, document, 0 if deleting else version)
        except grpc.aio.AioRpcError:
            return


async def run_until_killed(process: RetrieverProcess, ledger: Ledger, random: Random) -> None:
    """Lets all clients write and kills the process after some acknowledgements."""
    goal = ledger.count + random.randint(5, 40)
    async with connected(process) as channel:
        client = RetrieverClient(channel)
        share = DOCUMENTS // CLIENTS
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                mine = range(number * share, (number + 1) * share)
                group.create_task(work(client, ledger, mine, Random(random.random())))
            await ledger.reach(goal)
            await asyncio.sleep(random.random() * 0.02)
            process.kill()


async def check(client: RetrieverClient, ledger: Ledger, hint: str) -> None:
    """Compares every document with the ledger, and settles what was on its way."""
    expected_passages = 0
    for document in range(DOCUMENTS):
        version = await stored_version(client, document, hint)
        assert version in ledger.possible(document), f"{hint}: doc-{document} has {version}"
        ledger.acknowledged[document] = version
        ledger.on_its_way.pop(document, None)
        if version:
            expected_passages += PASSAGES
            await check_found(client, document, version, hint)
    described = await client.workspaces.DescribeWorkspace(
        workspaces_pb2.DescribeWorkspaceRequest(slug="docs")
    )
    words = await client.find("texte", mode=search_pb2.SEARCH_MODE_LEXICAL, candidate_count=200)

    assert described.workspace.passage_count == expected_passages, hint
    assert [space.passage_count for space in described.workspace.spaces] == [expected_passages]
    assert words.lists[0].hit_count == expected_passages, hint


async def stored_version(client: RetrieverClient, document: int, hint: str) -> int:
    """Reads which version of a document is stored, whole; 0 for none."""
    try:
        stored = await client.documents.GetDocument(
            documents_pb2.GetDocumentRequest(
                workspace="docs", external_id=f"doc-{document}", include_passages=True
            )
        )
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        return 0
    texts = [passage.passage.text for passage in stored.passages]
    version = int(texts[1].split("v")[1].split("p")[0])
    assert texts == texts_of(document, version), hint
    return version


async def check_found(client: RetrieverClient, document: int, version: int, hint: str) -> None:
    """Each passage is found by its own words and is its own nearest neighbour."""
    for text, row in zip(texts_of(document, version), rows_of(document, version), strict=True):
        words = await client.find(text.split()[0], mode=search_pb2.SEARCH_MODE_LEXICAL)
        near = await client.find("rien", row, mode=search_pb2.SEARCH_MODE_DENSE, limit=1)
        assert [hit.passage.text for hit in words.hits] == [text], hint
        assert [hit.passage.text for hit in near.hits] == [text], hint
        assert near.hits[0].space_scores[0].space_id == SPACE
        assert near.hits[0].space_scores[0].cosine == pytest.approx(1, abs=1e-5), hint


@pytest.mark.parametrize("seed", [1, 2])
async def test_no_acknowledged_write_is_lost_and_nothing_comes_back(
    process: RetrieverProcess, soak: bool, seed: int
) -> None:
    """Round after round, every document is as acknowledged or as it was on its way to be: whole,
    found by words and by vector, with no passage beyond."""
    await create_workspace(process)
    random = Random(seed)
    ledger = Ledger()
    for number in range(50 if soak else 3):
        await run_until_killed(process, ledger, random)
        process.start()
        async with connected(process) as channel:
            await check(RetrieverClient(channel), ledger, f"seed {seed}, round {number}")

    assert ledger.count > 0
