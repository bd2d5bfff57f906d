"""Answers of every shape that vendors send, over a real connection."""

from __future__ import annotations

from typing import Any

import pytest

from chassis.vendor_errors import VendorError, VendorGarbled, VendorUnusable
from chat_models.chat import FinishReason, TokenUsage
from tests.fakes.chat_vendor import (
    MISTRAL,
    OLLAMA,
    OPENAI,
    REQUEST,
    VENDORS,
    Vendor,
    chat_of,
    choice,
    ollama_answer,
)
from tests.fakes.vendor import Reaction, reply

THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "il demande..."}]}
TEXT = {"type": "text", "text": "délai de "}


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_a_plain_answer(vendor: Vendor) -> None:
    """Text, reason, tokens, and the price of both kinds of tokens."""
    async with chat_of(vendor, vendor.answer(" délai de livraison\n")) as (_, chat):
        completion = await chat.complete(REQUEST)

    assert completion.text == "délai de livraison"
    assert completion.finish_reason is FinishReason.STOP
    assert completion.usage == TokenUsage(20, 5)
    assert completion.cost == pytest.approx(20 * 1e-6 + 5 * 10e-6)
    assert (completion.currency, completion.provider, completion.model) == (
        "EUR",
        vendor.name,
        "model-1",
    )


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_reasoning_is_no_part_of_the_text(vendor: Vendor) -> None:
    """But of the tokens, which are paid for."""
    text = "<think>1. foo\n2. bar</think>\n1. prix du gaz"
    async with chat_of(vendor, vendor.answer(text)) as (_, chat):
        assert (await chat.complete(REQUEST)).text == "1. prix du gaz"


@pytest.mark.parametrize(
    ("value", "text", "reason"),
    [
        (choice([THINKING, TEXT, {"type": "text", "text": "prix"}]), "délai de prix", "stop"),
        (choice([TEXT, {"type": "reference", "reference_ids": [1]}]), "délai de", "stop"),
        (choice(["délai ", {"type": "output_text", "text": "prix"}]), "délai prix", "stop"),
        (choice("prix", reasoning_content="il demande le prix"), "prix", "stop"),
        (choice("prix", None), "prix", "stop"),
        (choice("prix du", "length"), "prix du", "length"),
        (choice("prix du", "model_length"), "prix du", "length"),
        (choice(None, "length", reasoning_content="hmm"), "", "length"),
        (choice(None, refusal="I cannot help."), "", "refused"),
        (choice([{"type": "refusal", "refusal": "I cannot."}]), "", "refused"),
        (choice("", "content_filter"), "", "refused"),
        (choice("prix", "something_new"), "prix", "other"),
        (choice("prix", "tool_calls"), "prix", "other"),
    ],
)
async def test_content_and_reasons_of_many_kinds(value: Any, text: str, reason: str) -> None:
    """Parts are joined, reasoning is dropped, a refusal and a cut are told apart from an answer."""
    async with chat_of(MISTRAL, reply(value)) as (_, chat):
        completion = await chat.complete(REQUEST)

    assert (completion.text, completion.finish_reason) == (text, FinishReason(reason))


UNUSABLE: list[tuple[Vendor, Any]] = [
    (OPENAI, {"choices": []}),
    (OPENAI, {"id": "1"}),
    (OPENAI, []),
    (OPENAI, "fine"),
    (OPENAI, {"choices": ["fine"]}),
    (OPENAI, {"choices": {"0": "fine"}}),
    (OPENAI, {"error": {"message": "upstream failed"}}),
    (OPENAI, {**choice("prix"), "error": {"message": "upstream failed"}}),
    (OPENAI, choice("")),
    (OPENAI, choice("", reasoning_content="only this")),
    (OPENAI, choice("<think>for ever")),
    (OPENAI, choice(None)),
    (OPENAI, choice({"text": "fine"})),
    (MISTRAL, choice("prix du", "error")),
    (OLLAMA, {"error": "model runner has unexpectedly stopped"}),
    (OLLAMA, {"done": True}),
    (OLLAMA, ollama_answer("", done_reason="load")),
    (OLLAMA, ollama_answer("")),
    (OLLAMA, {"message": "fine", "done": True}),
]


@pytest.mark.parametrize(("vendor", "value"), UNUSABLE)
async def test_what_is_no_answer_is_a_failure(vendor: Vendor, value: Any) -> None:
    """Under a good status too, so that the next model is asked."""
    async with chat_of(vendor, reply(value)) as (server, chat):
        with pytest.raises(VendorUnusable):
            await chat.complete(REQUEST)
        assert len(server.received) == 1


@pytest.mark.parametrize(
    "reaction",
    [reply(raw=b"<html>busy</html>"), reply(raw=b'{"choices": [NaN]}'), reply(raw=b'{"choi')],
    ids=["html", "nan", "cut"],
)
async def test_what_is_no_json_is_a_failure(reaction: Reaction) -> None:
    """Whatever it is instead."""
    async with chat_of(OPENAI, reaction) as (_, chat):
        with pytest.raises(VendorGarbled):
            await chat.complete(REQUEST)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": -1}, {"prompt_tokens": "20"}]
)
async def test_tokens_that_nobody_counted_are_estimated(usage: Any) -> None:
    """And said to be estimates; they are paid for like the others."""
    async with chat_of(OPENAI, reply({**choice("délai de livraison"), "usage": usage})) as (
        _,
        chat,
    ):
        completion = await chat.complete(REQUEST)

    assert completion.usage.estimated
    assert 10 < completion.usage.input_tokens < 40
    assert 3 < completion.usage.output_tokens < 15
    assert completion.cost is not None
    assert completion.cost > 0


async def test_ollama_leaves_out_the_count_of_a_cached_prompt() -> None:
    """It is estimated; the count of the answer stands."""
    value = ollama_answer("fine")
    del value["prompt_eval_count"]
    async with chat_of(OLLAMA, reply(value)) as (_, chat):
        usage = (await chat.complete(REQUEST)).usage

    assert usage.estimated
    assert usage.output_tokens == 5


async def test_errors_quote_neither_question_nor_answer() -> None:
    """They end up in receipts and logs."""
    value = {"error": {"message": "cannot answer: secret word"}}
    async with chat_of(OPENAI, reply(value)) as (_, chat):
        with pytest.raises(VendorError) as caught:
            await chat.complete(REQUEST)
    assert "secret word" not in str(caught.value)
    assert "livraison" not in str(caught.value)
