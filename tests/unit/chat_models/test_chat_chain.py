"""Models are asked in their order, within the time, and no longer than needed."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from chassis.circuit_breaker import CircuitOpen
from chassis.deadline import Deadline, narrowed_deadline
from chassis.errors import DeadlineExceeded, ResourceExhausted, ServiceError, Unavailable
from chassis.metrics import Metrics
from chassis.rate_limiter import RateLimited
from chassis.vendor_errors import VendorRefused, VendorTimeout, VendorUnusable
from chat_models.chain import ChatChain
from chat_models.chat import FinishReason
from chat_models.model_card import FREE, TokenPrice
from chat_models.usage import ChatUsage
from tests.fakes.chat_models import ScriptedChat, down
from tests.fakes.chat_vendor import OPENAI, REQUEST, chat_of
from tests.fakes.clock import FakeClock
from tests.fakes.vendor import hang

PAID = TokenPrice(1.0, 10.0, "EUR")


@pytest.mark.parametrize(
    "failure",
    [
        down(),
        VendorTimeout("first", "did not answer in time"),
        VendorRefused("first", "refused the request", status=400),
        VendorUnusable("first", "answered without a word"),
        CircuitOpen("first is not called"),
        RateLimited("no room", retry_after_s=9.0),
        DeadlineExceeded("its share is over"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_the_next_model_answers_where_one_fails(failure: Exception) -> None:
    """Whatever another one may not share."""
    chain = ChatChain([ScriptedChat(failure), ScriptedChat("fine", name="second")])

    completion = await chain.complete(REQUEST)

    assert (completion.text, completion.provider) == ("fine", "second")


async def test_the_first_that_answers_is_the_only_one_asked() -> None:
    """Each call costs."""
    second = ScriptedChat("other", name="second")

    completion = await ChatChain([ScriptedChat("fine"), second]).complete(REQUEST)

    assert completion.text == "fine"
    assert second.requests == []


@pytest.mark.parametrize("reason", [FinishReason.REFUSED, FinishReason.LENGTH])
async def test_a_refusal_or_a_cut_is_an_answer(reason: FinishReason) -> None:
    """No more willing model is looked for."""
    second = ScriptedChat("other", name="second")
    chain = ChatChain([ScriptedChat("", finish_reason=reason), second])

    assert (await chain.complete(REQUEST)).finish_reason is reason
    assert second.requests == []


async def test_a_bug_is_no_failure_of_a_vendor() -> None:
    """It passes, so that somebody mends it."""
    chain = ChatChain([ScriptedChat(KeyError("bug")), ScriptedChat("fine", name="second")])

    with pytest.raises(KeyError):
        await chain.complete(REQUEST)


async def test_all_failures_are_told() -> None:
    """With who failed, and how; a single model's error stays as it is."""
    with pytest.raises(Unavailable) as caught:
        await ChatChain([ScriptedChat(down()), ScriptedChat(down("b"), name="b")]).complete(REQUEST)
    assert caught.value.reason == "NO_CHAT_MODEL_AVAILABLE"
    assert "first/first-model: first cannot answer now (HTTP 503); b/b-model: b" in str(
        caught.value
    )

    with pytest.raises(Unavailable) as caught:
        await ChatChain([ScriptedChat(down())]).complete(REQUEST)
    assert caught.value.reason == "VENDOR_UNAVAILABLE"


async def test_time_is_kept_for_those_behind() -> None:
    """All but the last get a share of what is left."""
    clock = FakeClock()
    models = [ScriptedChat(down()), ScriptedChat(down()), ScriptedChat("fine", name="third")]

    await ChatChain(models).complete(REQUEST, Deadline.after(10.0, clock))

    given = [model.deadlines[0] for model in models]
    assert [deadline.remaining() for deadline in given if deadline] == [6.0, 6.0, 10.0]


async def test_the_earlier_of_two_deadlines_counts() -> None:
    """That of the call being served, and the given one."""
    model = ScriptedChat("fine")
    with narrowed_deadline(5.0):
        await ChatChain([model]).complete(REQUEST, Deadline.after(60.0))
        await ChatChain([model]).complete(REQUEST)
    for deadline in model.deadlines:
        assert deadline is not None
        assert deadline.remaining() <= 5.0


async def test_nobody_is_asked_when_the_time_is_over() -> None:
    """The caller has gone."""
    model = ScriptedChat("fine")
    with pytest.raises(DeadlineExceeded):
        await ChatChain([model]).complete(REQUEST, Deadline.after(0.0))
    assert model.requests == []


async def test_a_hung_vendor_leaves_time_for_the_next() -> None:
    """Over a real connection: the share ends, the second one answers."""
    async with chat_of(OPENAI, hang()) as (_, hung):
        chain = ChatChain([hung, ScriptedChat("fine", name="second")])
        completion = await chain.complete(REQUEST, Deadline.after(0.3))
    assert completion.provider == "second"


async def test_what_costs_is_passed_over_where_nothing_may_be_paid() -> None:
    """An unknown price may be one; a free model answers."""
    paid = [ScriptedChat("a", price=PAID), ScriptedChat("b", name="unknown")]
    free = ScriptedChat("fine", name="free", price=FREE)

    completion = await ChatChain([*paid, free]).complete(REQUEST, may_pay=False)

    assert completion.provider == "free"
    assert [model.requests for model in paid] == [[], []]
    with pytest.raises(ResourceExhausted) as caught:
        await ChatChain(paid).complete(REQUEST, may_pay=False)
    assert caught.value.reason == "DAILY_COST_CAP_REACHED"


async def test_a_stream_falls_back_before_its_first_piece() -> None:
    """And not afterwards: what has been shown cannot be taken back."""
    chain = ChatChain([ScriptedChat(down()), ScriptedChat("all is fine", name="second")])

    async with chain.stream(REQUEST) as stream:
        assert "".join([piece async for piece in stream]) == "all is fine "
    assert stream.completion.provider == "second"

    with pytest.raises(Unavailable, match="reader"):
        async with chain.stream(REQUEST):
            raise Unavailable("the reader's own trouble")


async def test_a_check_passes_as_long_as_one_model_can_answer() -> None:
    """And tells how all fail where none can."""
    await ChatChain([ScriptedChat(down()), ScriptedChat("fine", name="second")]).check()

    with pytest.raises(ServiceError, match="cannot answer now"):
        await ChatChain([ScriptedChat(down())]).check()


async def test_closing_closes_all() -> None:
    """No connection is left behind."""
    models = [ScriptedChat("a"), ScriptedChat("b", name="second")]
    await ChatChain(models).close()
    assert [model.closed for model in models] == [True, True]


async def test_tokens_costs_and_failures_are_counted() -> None:
    """For whole answers and for streams, by provider and model."""
    metrics = Metrics()
    usage = ChatUsage(metrics)
    chain = ChatChain([ScriptedChat(down()), ScriptedChat("fine", name="b", price=PAID)], usage)

    await chain.complete(REQUEST)
    async with chain.stream(REQUEST) as stream:
        assert [piece async for piece in stream]

    b, first = (
        {"gen_ai_provider_name": name, "gen_ai_request_model": f"{name}-model"}
        for name in ("b", "first")
    )
    tokens = "gen_ai_client_token_usage_sum"
    assert sample(metrics.registry, tokens, gen_ai_token_type="input", **b) == 40
    assert sample(metrics.registry, tokens, gen_ai_token_type="output", **b) == 10
    cost = sample(metrics.registry, "chat_cost_total", currency="EUR", **b)
    assert cost == pytest.approx(2 * (20 + 50) / 1e6)
    failures = sample(
        metrics.registry, "chat_failures_total", error_type="VENDOR_UNAVAILABLE", **first
    )
    assert failures == 2


def sample(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    """Reads one counter."""
    return registry.get_sample_value(name, labels)
