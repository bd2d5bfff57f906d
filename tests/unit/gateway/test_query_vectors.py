"""The cache of query vectors, and one call for concurrent equal queries."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from chassis.deadline import current_deadline, narrowed_deadline
from chassis.errors import Unavailable
from chassis.request_id import bind_request_id, current_request_id
from gateway.documents import FloatMatrix
from gateway.query_vectors import QueryVectors
from tests.fakes.clock import FakeClock, settle
from tests.fakes.gateway_services.models import FakeEmbedder
from tests.fakes.gateway_services.spaces import OTHER_SPACE, SPACE


async def test_vectors_are_those_of_the_embedder() -> None:
    """Fresh and cached, the vector is the same one."""
    vectors = QueryVectors(FakeEmbedder())

    fresh = await vectors.embed("negoce", SPACE, "retards")
    cached = await vectors.embed("negoce", SPACE, "retards")

    expected: FloatMatrix = np.full(4, 0.5, dtype=np.float32)
    np.testing.assert_array_equal(fresh.vector, expected)
    np.testing.assert_array_equal(cached.vector, expected)
    assert (fresh.report.input_token_count, cached.report.input_token_count) == (5, 0)


async def test_entries_belong_to_workspace_space_and_text() -> None:
    """A difference in any of the three is another entry."""
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder)

    for workspace, space, text in (
        ("a", SPACE, "x"),
        ("b", SPACE, "x"),
        ("a", OTHER_SPACE, "x"),
        ("a", SPACE, "y"),
    ):
        await vectors.embed(workspace, space, text)

    assert len(embedder.calls) == 4


async def test_entries_end_with_their_time() -> None:
    """After the time to live a text is embedded again."""
    clock, embedder = FakeClock(), FakeEmbedder()
    vectors = QueryVectors(embedder, ttl_s=60.0, clock=clock)
    await vectors.embed("a", SPACE, "x")

    clock.now += 59.0
    await vectors.embed("a", SPACE, "x")
    assert len(embedder.calls) == 1

    clock.now += 2.0
    await vectors.embed("a", SPACE, "x")
    assert len(embedder.calls) == 2


async def test_the_number_of_entries_is_bounded() -> None:
    """The entry used longest ago makes room."""
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder, capacity=2)
    for text in ("x", "y", "x", "z", "x"):
        await vectors.embed("a", SPACE, text)
    assert [texts[0] for texts, *_ in embedder.calls] == ["x", "y", "z"]

    await vectors.embed("a", SPACE, "y")

    assert len(embedder.calls) == 4


async def test_forgetting_a_workspace_leaves_the_others() -> None:
    """Only the entries of that workspace go."""
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder)
    await vectors.embed("a", SPACE, "x")
    await vectors.embed("b", SPACE, "x")

    vectors.forget_workspace("a")

    await vectors.embed("b", SPACE, "x")
    assert len(embedder.calls) == 2
    await vectors.embed("a", SPACE, "x")
    assert len(embedder.calls) == 3


async def test_concurrent_equal_queries_share_one_call() -> None:
    """Ten requests for one text are one call, and all get the vector."""
    embedder = FakeEmbedder()
    vectors = QueryVectors(embedder)

    found = await asyncio.gather(*(vectors.embed("a", SPACE, "x") for _ in range(10)))

    assert len(embedder.calls) == 1
    assert len(found) == 10


async def test_a_request_that_leaves_does_not_end_the_call_of_the_others() -> None:
    """The first to ask may go away; the second still gets its vector."""
    embedder = FakeEmbedder()
    embedder.behaviour.barrier = asyncio.Barrier(2)
    vectors = QueryVectors(embedder)
    first = asyncio.create_task(vectors.embed("a", SPACE, "x"))
    second = asyncio.create_task(vectors.embed("a", SPACE, "x"))
    await settle()

    first.cancel()
    await settle()
    await embedder.behaviour.barrier.wait()

    assert (await second).vector.shape == (4,)
    assert first.cancelled()
    assert len(embedder.calls) == 1


async def test_a_call_ends_when_nobody_waits_any_more() -> None:
    """After the last request has left, the next one starts anew."""
    embedder = FakeEmbedder()
    embedder.behaviour.hangs = True
    vectors = QueryVectors(embedder)
    only = asyncio.create_task(vectors.embed("a", SPACE, "x"))
    await settle()

    only.cancel()
    await settle()
    embedder.behaviour.hangs = False

    assert (await vectors.embed("a", SPACE, "x")).vector.shape == (4,)
    assert len(embedder.calls) == 2


async def test_failures_are_not_kept() -> None:
    """Every request of a failed call gets the error, the next one asks again."""
    embedder = FakeEmbedder()
    embedder.behaviour.error = Unavailable("gone")
    vectors = QueryVectors(embedder)

    outcomes = await asyncio.gather(
        *(vectors.embed("a", SPACE, "x") for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    assert len(embedder.calls) == 1

    embedder.behaviour.error = None
    assert (await vectors.embed("a", SPACE, "x")).vector.shape == (4,)


async def test_a_shared_call_has_its_own_time_and_the_first_requests_id() -> None:
    """The deadline of the request that came first must not cut off the others."""
    seen: list[tuple[object, str]] = []

    class Spy(FakeEmbedder):
        async def embed(self, *args: object, **options: object):  # type: ignore[no-untyped-def]
            seen.append((current_deadline(), current_request_id()))
            return await super().embed(*args, **options)  # type: ignore[arg-type]

    embedder = Spy()
    vectors = QueryVectors(embedder, call_timeout_s=3.0)
    bind_request_id("first-request")

    with narrowed_deadline(0.5):
        await vectors.embed("a", SPACE, "x")

    assert seen == [(None, "first-request")]
    assert embedder.behaviour.timeouts == pytest.approx([3.0])
