"""Concurrent small requests share a vendor call; queries go first; everybody gets their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from chassis.deadline import Deadline, narrowed_deadline
from chassis.errors import DeadlineExceeded, Unavailable
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.batch_call import PieceResult, PieceVector
from embedder_svc.hosted.piece_queue import PieceQueue
from embedder_svc.hosted.request_caps import RequestCaps
from embedder_svc.providers.mistral import MODELS, mistral_provider
from tests.fakes.vendors.embedding_server import provider_of, vector_of
from tests.fakes.vendors.mistral_server import MistralServer

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
MISTRAL = MODELS["mistral-embed"]


class GatedVendor:
    """Answers each call when told to; `calls` lists what it was asked for, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.gate = asyncio.Event()
        self.called = asyncio.Semaphore(0)
        self.deadlines: list[Deadline | None] = []
        self.failure: Exception | None = None

    async def __call__(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> Sequence[PieceResult]:
        self.calls.append(tuple(texts))
        self.deadlines.append(deadline)
        self.called.release()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return [PieceVector(vector_of(text, 4), 1, False) for text in texts]


@pytest.fixture
async def vendor() -> GatedVendor:
    """A vendor that waits."""
    return GatedVendor()


@pytest.fixture
def queue_of(vendor: GatedVendor) -> Callable[..., PieceQueue]:
    """Makes queues before the vendor; at most `concurrency` calls at once."""

    def make(concurrency: int = 4) -> PieceQueue:
        return PieceQueue(vendor, RequestCaps(MISTRAL), concurrency=concurrency)

    return make


async def test_concurrent_callers_share_one_call_over_http() -> None:
    """32 callers of one text each; every one gets the vector of its own text."""
    server = MistralServer()
    texts = [f"question {number}" for number in range(32)]
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        batches = await asyncio.gather(*(provider.embed([t], QUERY, None) for t in texts))

    assert len(server.bodies) <= 2
    for batch, text in zip(batches, texts, strict=True):
        np.testing.assert_allclose(batch.vectors[0], vector_of(text, 1024), atol=1e-6)
    counted = sum(batch.token_count for batch in batches)
    assert counted == sum(map(server.tokens, texts))


async def test_queries_go_before_waiting_documents(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """Documents leave one place free; a query takes it while they wait."""
    queue = queue_of(concurrency=2)
    first = asyncio.create_task(queue.embed(["d1"], DOCUMENT, None))
    await vendor.called.acquire()
    second = asyncio.create_task(queue.embed(["d2"], DOCUMENT, None))
    query = asyncio.create_task(queue.embed(["q"], QUERY, None))
    await vendor.called.acquire()

    assert vendor.calls == [("d1",), ("q",)]
    vendor.gate.set()
    await asyncio.gather(first, second, query)
    assert vendor.calls == [("d1",), ("q",), ("d2",)]


async def test_purposes_are_never_mixed(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """A request has one input type."""
    queue = queue_of()
    vendor.gate.set()

    await asyncio.gather(
        queue.embed(["a"], QUERY, None),
        queue.embed(["b"], DOCUMENT, None),
        queue.embed(["c"], QUERY, None),
    )

    assert sorted(vendor.calls) == [("a", "c"), ("b",)]


async def test_full_requests_do_not_wait(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """A batch above the cap leaves at once; only its rest waits for others."""
    queue = queue_of()
    task = asyncio.create_task(queue.embed([f"{n}" for n in range(600)], DOCUMENT, None))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert [len(call) for call in vendor.calls] == [512]
    vendor.gate.set()
    assert len(await task) == 600


async def test_a_caller_that_leaves_takes_its_texts_back(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """What was not sent yet is not sent for nobody; the others are not disturbed."""
    queue = queue_of()
    vendor.gate.set()
    leaving = asyncio.create_task(queue.embed(["weg"], QUERY, None))
    staying = asyncio.create_task(queue.embed(["da"], QUERY, None))
    await asyncio.sleep(0)
    leaving.cancel()

    [result] = await staying

    assert isinstance(result, PieceVector)
    assert vendor.calls == [("da",)]
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_each_caller_has_its_own_deadline(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """The hurried one is told; the call goes on for the one with more time."""
    queue = queue_of()
    patient = asyncio.create_task(queue.embed(["a"], QUERY, Deadline.after(60)))
    await asyncio.sleep(0)
    with pytest.raises(DeadlineExceeded):
        await queue.embed(["b"], QUERY, Deadline.after(0.02))
    vendor.gate.set()

    assert len(await patient) == 1
    assert vendor.calls == [("a", "b")]
    [deadline] = vendor.deadlines
    assert deadline is not None
    assert deadline.remaining() > 30


async def test_the_first_callers_deadline_does_not_bind_the_others() -> None:
    """A merged call has no deadline of the call that happened to start it."""
    server = MistralServer(delay_s=0.05)
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        with narrowed_deadline(0.01):
            hurried = asyncio.create_task(provider.embed(["a"], QUERY, Deadline.after(0.01)))
        patient = asyncio.create_task(provider.embed(["b"], QUERY, None))

        batch = await patient
        with pytest.raises(DeadlineExceeded):
            await hurried

    assert batch.vectors.shape == (1, 1024)


async def test_a_failed_call_fails_all_its_callers(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """And only them."""
    queue = queue_of()
    vendor.failure = Unavailable("down")
    vendor.gate.set()
    failed = await asyncio.gather(
        *(queue.embed([text], QUERY, None) for text in "ab"), return_exceptions=True
    )
    vendor.failure = None

    assert [str(error) for error in failed] == ["down", "down"]
    assert len(await queue.embed(["c"], QUERY, None)) == 1


async def test_closing_refuses_what_waits_and_ends_what_runs(
    vendor: GatedVendor, queue_of: Callable[..., PieceQueue]
) -> None:
    """Nobody waits for ever."""
    queue = queue_of(concurrency=1)
    running = asyncio.create_task(queue.embed(["a"], QUERY, None))
    await vendor.called.acquire()
    waiting = asyncio.create_task(queue.embed(["b"], QUERY, None))
    await asyncio.sleep(0)

    await queue.close()

    for task in (running, waiting):
        with pytest.raises(Unavailable, match="stopped"):
            await task
    with pytest.raises(Unavailable, match="stopped"):
        await queue.embed(["c"], QUERY, None)
