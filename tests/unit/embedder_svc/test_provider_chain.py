"""The chain falls back in order, keeps to an asked space and leaves failing providers alone."""

import asyncio

import pytest

from chassis.circuit_breaker import CircuitBreaker
from chassis.deadline import Deadline
from chassis.errors import (
    DeadlineExceeded,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
)
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import ChainLink, ProviderState
from embedder_svc.embedding import EmbeddingPurpose
from tests.fakes.clock import FakeClock
from tests.fakes.embedding_providers import ScriptedProvider

QUERY = EmbeddingPurpose.QUERY


@pytest.fixture
def clock() -> FakeClock:
    """One clock for breakers and latencies."""
    return FakeClock(start=0.0)


def chain_of(clock: FakeClock, *providers: ScriptedProvider) -> ProviderChain:
    """A chain whose breakers open after two failures, for 30 seconds."""
    return ProviderChain(
        tuple(
            ChainLink(
                provider,
                CircuitBreaker(provider.name, threshold=2, open_s=30.0, clock=clock),
                clock,
            )
            for provider in providers
        )
    )


async def test_the_first_provider_answers(clock: FakeClock) -> None:
    """Without an outage nobody but the first is called."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second")

    embedding = await chain_of(clock, first, second).embed(["un", "deux"], QUERY)

    assert (embedding.provider, embedding.model) == ("first", "first-model")
    assert embedding.space == first.space
    assert embedding.batch.vectors.shape == (2, 8)
    assert second.embedded == []


@pytest.mark.parametrize(
    "error", [Unavailable("down"), ResourceExhausted("too many")], ids=["down", "busy"]
)
async def test_the_next_answers_when_one_fails(clock: FakeClock, error: Exception) -> None:
    """The answer names the space of the provider that gave it."""
    first, second = ScriptedProvider("first", error), ScriptedProvider("second")

    embedding = await chain_of(clock, first, second).embed(["un"], QUERY)

    assert embedding.provider == "second"
    assert embedding.space == second.space


async def test_an_asked_space_is_never_left(clock: FakeClock) -> None:
    """Only the provider of the space is called, even when it is down and others are not."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second", Unavailable("no power"))
    chain = chain_of(clock, first, second)

    with pytest.raises(Unavailable, match="second: no power") as caught:
        await chain.embed(["un"], QUERY, space=second.space)
    embedding = await chain.embed(["un"], QUERY, space=second.space)

    assert caught.value.reason == "SPACE_UNAVAILABLE"
    assert embedding.space == second.space
    assert first.embedded == []


async def test_an_unknown_space_is_not_found(clock: FakeClock) -> None:
    """A space that nobody serves is told apart from one that is down."""
    stranger = ScriptedProvider("stranger")

    with pytest.raises(NotFound, match="stranger") as caught:
        await chain_of(clock, ScriptedProvider("first")).embed(["un"], QUERY, space=stranger.space)

    assert caught.value.reason == "SPACE_NOT_SERVED"


async def test_when_all_fail_each_is_told(clock: FakeClock) -> None:
    """The error names every provider, what was wrong and the shortest pause."""
    chain = chain_of(
        clock,
        ScriptedProvider("first", Unavailable("no power", retry_after_s=9.0)),
        ScriptedProvider("second", ResourceExhausted("no quota", retry_after_s=4.0)),
    )

    with pytest.raises(Unavailable, match=r"first: no power; second: no quota") as caught:
        await chain.embed(["un"], QUERY)

    assert caught.value.reason == "NO_PROVIDER_AVAILABLE"
    assert caught.value.retry_after_s == 4.0


async def test_a_failing_provider_is_left_alone_and_probed_once(clock: FakeClock) -> None:
    """After two failures it is passed over; after the pause one call finds it well again."""
    down = Unavailable("down")
    first, second = ScriptedProvider("first", down, down), ScriptedProvider("second")
    chain = chain_of(clock, first, second)

    for _ in range(4):
        await chain.embed(["un"], QUERY)
    described = chain.describe()[0]
    assert len(first.embedded) == 2
    assert described.state is ProviderState.UNAVAILABLE
    assert described.last_error == "down"

    clock.now = 31.0
    embedding = await chain.embed(["un"], QUERY)

    assert embedding.provider == "first"
    assert chain.describe()[0].state is ProviderState.AVAILABLE
    assert chain.describe()[0].last_error == ""


async def test_a_mistake_of_the_caller_is_no_outage(clock: FakeClock) -> None:
    """Refused input goes back to the caller; nobody else is asked, and the breaker stays shut."""
    wrong = InvalidArgument("text 0 is poison")
    first, second = ScriptedProvider("first", wrong, wrong, wrong), ScriptedProvider("second")
    chain = chain_of(clock, first, second)

    for _ in range(3):
        with pytest.raises(InvalidArgument):
            await chain.embed(["un"], QUERY)

    assert chain.describe()[0].state is ProviderState.AVAILABLE
    assert second.embedded == []


async def test_no_provider_is_tried_after_the_deadline(clock: FakeClock) -> None:
    """When the time is over, the rest of the chain is spared."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second")
    chain = chain_of(clock, first, second)

    with pytest.raises(DeadlineExceeded):
        await chain.embed(["un"], QUERY, deadline=Deadline.after(0))

    assert first.embedded == second.embedded == []


async def test_the_callers_deadline_opens_no_breaker(clock: FakeClock) -> None:
    """A caller in a hurry proves nothing against the provider, and nothing for its recovery."""
    late, down = DeadlineExceeded("too late"), Unavailable("down")
    provider = ScriptedProvider("first", late, late, late, down, down, late)
    chain = chain_of(clock, provider)

    for _ in range(3):
        with pytest.raises(DeadlineExceeded):
            await chain.embed(["un"], QUERY)
    assert chain.describe()[0].state is ProviderState.AVAILABLE

    for _ in range(2):
        with pytest.raises(Unavailable):
            await chain.embed(["un"], QUERY)
    clock.now = 31.0
    with pytest.raises(DeadlineExceeded):
        await chain.embed(["un"], QUERY)
    assert chain.describe()[0].state is ProviderState.UNAVAILABLE


async def test_a_bug_is_not_taken_for_an_outage(clock: FakeClock) -> None:
    """An exception that nobody foresaw is not hidden by the next provider."""
    chain = chain_of(clock, ScriptedProvider("first", KeyError("oops")), ScriptedProvider("second"))

    with pytest.raises(KeyError):
        await chain.embed(["un"], QUERY)

    assert "oops" not in chain.describe()[0].last_error
    assert chain.describe()[0].last_error != ""


async def test_checks_tell_who_can_answer(clock: FakeClock) -> None:
    """A provider that fails its check is not called until its pause is over."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second")
    first.check_failure = Unavailable("no key")
    chain = chain_of(clock, first, second)

    assert [await link.check() for link in chain.links] == [False, True]
    assert [each.state for each in chain.describe()] == [
        ProviderState.UNAVAILABLE,
        ProviderState.AVAILABLE,
    ]
    assert chain.describe()[0].last_error == "no key"
    assert (await chain.embed(["un"], QUERY)).provider == "second"
    assert first.embedded == []

    second.check_failure = RuntimeError("bug")
    assert [await link.check() for link in chain.links] == [False, False]
    assert (first.check_count, second.check_count) == (1, 2)

    first.check_failure = None
    clock.now = 31.0
    assert await chain.links[0].check()
    assert chain.describe()[0].state is ProviderState.AVAILABLE


async def test_the_description_tells_the_last_latency(clock: FakeClock) -> None:
    """The latency is that of the last success, and absent before the first."""

    class SlowProvider(ScriptedProvider):
        async def embed(self, *arguments: object) -> object:  # type: ignore[override]
            clock.now += 0.25
            return await super().embed(*arguments)  # type: ignore[arg-type]

    chain = chain_of(clock, SlowProvider("first"))
    assert chain.describe()[0].last_latency_ms is None

    embedding = await chain.embed(["un"], QUERY)

    assert embedding.latency_ms == pytest.approx(250.0)
    assert chain.describe()[0].last_latency_ms == pytest.approx(250.0)


async def test_a_cancelled_call_counts_for_nothing(clock: FakeClock) -> None:
    """A caller that goes away leaves the breaker as it was."""

    class EndlessProvider(ScriptedProvider):
        async def embed(self, *arguments: object) -> object:  # type: ignore[override]
            await asyncio.Event().wait()
            return None

    chain = chain_of(clock, EndlessProvider("first"))
    for _ in range(3):
        call = asyncio.create_task(chain.embed(["un"], QUERY))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    assert chain.describe()[0].state is ProviderState.AVAILABLE


async def test_closing_closes_every_provider(clock: FakeClock) -> None:
    """No provider keeps threads or connections after the end."""
    providers = ScriptedProvider("first"), ScriptedProvider("second")

    await chain_of(clock, *providers).close()

    assert [provider.closed for provider in providers] == [True, True]
