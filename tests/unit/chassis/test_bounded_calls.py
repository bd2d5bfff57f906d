"""A server takes on no more calls than it is told to; those beyond are refused at once."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio

from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from tests.fakes.probe_service import UNARY, probe


async def test_calls_beyond_the_bound_are_refused_and_places_come_back() -> None:
    """RESOURCE_EXHAUSTED without waiting; once calls have ended, as many are served again."""
    go_on, at_work = asyncio.Event(), 0

    async def held(request: bytes, _context: Any) -> bytes:
        nonlocal at_work
        at_work += 1
        await go_on.wait()
        at_work -= 1
        return request

    settings = ServerSettings(drain_grace_s=0.0, max_concurrent_calls=3)
    async with (
        running_server([probe({UNARY: held})], settings, metrics=Metrics()) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        call: Any = channel.unary_unary(f"/{UNARY}")
        calls = [call(b"x", timeout=60) for _ in range(3)]
        while at_work < 3:  # noqa: ASYNC110 - three handlers count it
            await asyncio.sleep(0.01)

        refused = await call(b"x", timeout=60).code()
        go_on.set()
        assert [await each for each in calls] == [b"x"] * 3
        again = [await each for each in [call(b"y", timeout=60) for _ in range(3)]]

    assert refused is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert again == [b"y"] * 3
