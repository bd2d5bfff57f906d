"""Streams of a chain: when the next model is asked, how much one may write, what a break costs."""

from __future__ import annotations

import pytest

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable
from chassis.metrics import Metrics
from chassis.vendor_errors import VendorError
from chat_models.chain import ChatChain
from chat_models.chat import ChatMessage, ChatRequest, ChatRole, FinishReason
from chat_models.model_card import ModelCard
from chat_models.usage import ChatUsage
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.chat_vendor import OPENAI, REQUEST, chat_of, delta, events
from tests.fakes.vendor import chunked, hang


async def _streamed(chain: ChatChain, **options: object) -> str:
    async with chain.stream(REQUEST, **options) as stream:  # type: ignore[arg-type]
        return "".join([piece async for piece in stream])


async def test_a_hung_model_leaves_time_for_the_next() -> None:
    """A stream that has not begun in its share of the time is given up."""
    async with chat_of(OPENAI, hang()) as (_, hung):
        chain = ChatChain([hung, ScriptedChat("du second", name="second")])

        assert await _streamed(chain, deadline=Deadline.after(1.0)) == "du second "


async def test_the_last_hung_model_uses_up_the_time() -> None:
    """And the error says what was over."""
    async with chat_of(OPENAI, hang()) as (_, hung):
        with pytest.raises((DeadlineExceeded, Unavailable)):
            await _streamed(ChatChain([hung]), deadline=Deadline.after(0.3))


async def test_each_provider_has_its_own_cap() -> None:
    """A cap by name counts before that of the request."""
    chat = ScriptedChat("un")
    await _streamed(ChatChain([chat]), caps={"first": 7, "second": 9})
    await _streamed(ChatChain([chat]), caps={"second": 9})

    assert [request.max_output_tokens for request in chat.requests] == [7, 50]


async def test_no_cap_is_more_than_the_model_can_hold() -> None:
    """Prompt and answer share the context; where no room is left the next model is asked."""
    prompt = ChatRequest((ChatMessage(ChatRole.USER, "a" * 1000),), max_output_tokens=4096)
    narrow, wide = ScriptedChat("un"), ScriptedChat("deux", name="second")
    narrow.card = ModelCard("narrow", context_tokens=400)
    wide.card = ModelCard("wide", context_tokens=1000)

    async with ChatChain([narrow, wide]).stream(prompt) as stream:
        assert [piece async for piece in stream] == ["deux "]
    with pytest.raises(Unavailable, match="cannot hold the prompt"):
        async with ChatChain([narrow]).stream(prompt):
            pass

    assert narrow.requests == []
    assert wide.requests[0].max_output_tokens == 1000 - (350 + 8)


async def test_a_part_of_an_answer_can_be_summed_up() -> None:
    """Its tokens are estimated where nobody counted them; at the end the whole is what it was."""
    async with (
        chat_of(OPENAI, chunked(events(delta("trente "), delta("jours"), delta("", "stop")))) as (
            _,
            chat,
        ),
        chat.stream(REQUEST) as stream,
    ):
        pieces = aiter(stream)
        await anext(pieces)
        part = stream.so_far()
        async for _ in pieces:
            pass
        whole = stream.so_far()

    assert (part.text, part.finish_reason) == ("trente", FinishReason.OTHER)
    assert part.usage.estimated
    assert part.usage.output_tokens > 0
    assert part.provider == "openai"
    assert whole == stream.completion
    assert (whole.text, whole.finish_reason) == ("trente jours", FinishReason.STOP)


async def test_a_break_is_counted_as_a_failure() -> None:
    """Also one after the first piece, when no other model can be asked any more."""
    metrics = Metrics()
    async with chat_of(OPENAI, chunked(events(delta("un"), done=False), ending="cut")) as (_, chat):
        chain = ChatChain([chat], ChatUsage(metrics))
        with pytest.raises(VendorError):
            await _streamed(chain)

    failed = [
        sample
        for family in metrics.registry.collect()
        for sample in family.samples
        if "failures" in sample.name and sample.name.endswith("_total")
    ]
    assert [sample.value for sample in failed] == [1.0]
