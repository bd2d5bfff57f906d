"""Outages of a hosted provider: few attempts, another provider, and a quick recovery."""

from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest

from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.deadline import Deadline
from chassis.errors import Unavailable
from chassis.vendor_connection import Connection, Timing
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import ChainLink, ProviderState
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.providers.deterministic import deterministic_provider
from embedder_svc.providers.mistral import MODELS, mistral_provider
from tests.fakes.clock import FakeClock
from tests.fakes.json_server import RefusedError
from tests.fakes.vendor import fake_vendor, hang
from tests.fakes.vendors.embedding_server import provider_of, vector_of
from tests.fakes.vendors.mistral_server import MistralServer

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
MISTRAL = MODELS["mistral-embed"]
DOWN = RefusedError(503, {"message": "overloaded"})


def chain_before(provider: object, *others: object) -> ProviderChain:
    """A chain of this provider and the others, without a cache."""
    return ProviderChain(
        tuple(
            ChainLink(each, CircuitBreaker("unused"))  # type: ignore[arg-type]
            for each in (provider, *others)
        )
    )


async def test_an_outage_costs_few_attempts_and_ends_with_one_probe(soak: bool) -> None:
    """50 calls a second, for a minute in the soak: attempts <= 1.2 x calls, the breaker opens, the
    next provider answers all of them, and the first probe after the end notices it."""
    calls = 3_000 if soak else 300
    clock = FakeClock(auto=True)
    breaker = CircuitBreaker("mistral", threshold=5, open_s=2.0, max_open_s=2.0, clock=clock)
    timing = Timing(clock, clock.sleep, random.Random(7))
    server = MistralServer(failures=[DOWN] * 100_000)
    spare = deterministic_provider()
    async with provider_of(
        server, mistral_provider, MISTRAL, path="/v1", timing=timing, breaker=breaker
    ) as provider:
        chain = chain_before(provider, spare)
        answered = []
        for number in range(calls):
            answered.append((await chain.embed([f"q{number}"], QUERY)).provider)
            clock.now += 0.02
        attempts = len(server.bodies)
        assert breaker.state is not BreakerState.CLOSED

        server.failures.clear()
        clock.now += 2.0
        recovered = await chain.embed(["q"], QUERY)
    await spare.close()

    assert attempts <= 1.2 * calls
    assert attempts < 0.2 * calls
    assert set(answered) == {"deterministic"}
    assert recovered.provider == "mistral"
    assert len(server.bodies) == attempts + 1


async def test_a_flapping_provider_is_tried_with_single_probes() -> None:
    """Up and down every two seconds for a minute: every call is answered in the named space."""
    clock = FakeClock(auto=True)
    breaker = CircuitBreaker("mistral", threshold=2, open_s=3.0, clock=clock)
    timing = Timing(clock, clock.sleep, random.Random(7))
    server, spare = MistralServer(), deterministic_provider()
    async with provider_of(
        server, mistral_provider, MISTRAL, path="/v1", timing=timing, breaker=breaker
    ) as provider:
        chain = chain_before(provider, spare)
        start = clock.now
        while clock.now < start + 60:
            server.failures = [DOWN] * 9 if int((clock.now - start) // 2) % 2 else []
            embedding = await chain.embed(["texte"], DOCUMENT)
            wide = {"mistral": 1024, "deterministic": 64}[embedding.provider]
            assert embedding.batch.vectors.shape == (1, wide)
            assert embedding.space.dimension == wide
            clock.now += 0.25
    await spare.close()

    assert len(server.bodies) <= 1.2 * 240


async def test_a_hung_provider_leaves_time_for_the_next() -> None:
    """It gets a share of the caller's time, and its breaker learns of it."""
    breaker = CircuitBreaker("mistral", threshold=1)
    spare = deterministic_provider()
    async with fake_vendor(hang()) as vendor:
        provider = mistral_provider(Connection(vendor.url), MISTRAL, breaker, Timing())
        chain = chain_before(provider, spare)
        embedding = await chain.embed(["un"], QUERY, deadline=Deadline.after(2.0))
        for _ in range(100):
            if breaker.state is BreakerState.OPEN:
                break
            await asyncio.sleep(0.01)
        await provider.close()
    await spare.close()

    assert embedding.provider == "deterministic"
    assert breaker.state is BreakerState.OPEN


async def test_one_failed_call_counts_once_for_all_its_callers() -> None:
    """32 merged callers are one failure for the breaker, not 32."""
    clock = FakeClock(auto=True)
    breaker = CircuitBreaker("mistral", threshold=4, clock=clock)
    server = MistralServer(failures=[DOWN] * 3)
    timing = Timing(clock, clock.sleep, random.Random(7))
    async with provider_of(
        server, mistral_provider, MISTRAL, path="/v1", timing=timing, breaker=breaker
    ) as provider:
        failed = await asyncio.gather(
            *(provider.embed([f"q{n}"], QUERY, None) for n in range(32)), return_exceptions=True
        )

    assert all(isinstance(error, Unavailable) for error in failed)
    assert len(server.bodies) == 3
    assert breaker.state is BreakerState.CLOSED


@pytest.mark.parametrize("after", ["2", "Fri, 15 Jan 2100 08:00:00 GMT", "-1", ""])
async def test_a_429_is_waited_for_once_by_everybody(after: str) -> None:
    """Seconds and dates are obeyed up to a cap; what cannot be read is not."""
    clock = FakeClock(auto=True)
    headers = {"retry-after": after} if after else {}
    server = MistralServer(
        failures=[RefusedError(429, {"message": "Requests rate limit exceeded"}, headers)]
    )
    timing = Timing(clock, clock.sleep, random.Random(7))
    async with provider_of(
        server, mistral_provider, MISTRAL, path="/v1", timing=timing
    ) as provider:
        batch = await provider.embed(["un"], QUERY, None)
        await provider.embed(["deux"], QUERY, None)

    np.testing.assert_allclose(batch.vectors[0], vector_of("un", 1024), atol=1e-6)
    assert len(server.bodies) == 3
    waited = sum(clock.slept)
    if after == "2":
        assert 2.0 <= waited <= 3.0
    elif after.startswith("Fri"):
        assert 30.0 <= waited <= 31.0
    else:
        assert waited <= 1.0


async def test_limits_of_the_account_are_shared_by_replicas() -> None:
    """120 requests a minute for four replicas: one each two seconds here."""
    clock = FakeClock(auto=True)
    server = MistralServer()
    timing = Timing(clock, clock.sleep, random.Random(7))

    async def seconds_for(replicas: int) -> float:
        connection = Connection(server.url + "/v1", requests_per_minute=120, replicas=replicas)
        provider = mistral_provider(connection, MISTRAL, CircuitBreaker("mistral"), timing)
        start = clock.now
        for number in range(5):
            await provider.embed([f"q{number}"], QUERY, None)
        await provider.close()
        return clock.now - start

    async with provider_of(server, mistral_provider, MISTRAL):
        assert await seconds_for(1) == pytest.approx(1.5, abs=0.01)
        assert await seconds_for(4) == pytest.approx(8.0, abs=0.01)


async def test_checks_notice_an_outage_and_a_recovery() -> None:
    """The description tells both, without a caller in between."""
    clock = FakeClock(auto=True)
    breaker = CircuitBreaker("mistral", open_s=30.0, clock=clock)
    timing = Timing(clock, clock.sleep, random.Random(7))
    server = MistralServer(failures=[DOWN] * 100)
    async with provider_of(
        server, mistral_provider, MISTRAL, path="/v1", timing=timing, breaker=breaker
    ) as provider:
        link = ChainLink(provider, CircuitBreaker("unused"))
        assert not await link.check()
        assert link.describe().state is ProviderState.UNAVAILABLE
        assert "503" in link.describe().last_error
        attempts = len(server.bodies)
        assert not await link.check()
        assert len(server.bodies) == attempts

        server.failures.clear()
        clock.now += 60.0
        assert await link.check()

    assert link.describe().state is ProviderState.AVAILABLE
    assert link.describe().last_error == ""
