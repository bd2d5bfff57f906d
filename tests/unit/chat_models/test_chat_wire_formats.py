"""What each vendor is sent: its own keys and no others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chassis.vendor_errors import VendorRefused
from chat_models.chat import ChatMessage, ChatRequest, ChatRole
from tests.fakes.chat_vendor import (
    KEY,
    MISTRAL,
    OLLAMA,
    OPENAI,
    QUESTION,
    REQUEST,
    VENDORS,
    Vendor,
    chat_of,
    choice,
    delta,
    events,
)
from tests.fakes.vendor import Reaction, chunked, reply

MESSAGES = [{"role": "user", "content": QUESTION}]
BODIES: dict[str, dict[str, Any]] = {
    "mistral": {
        "model": "model-1",
        "messages": MESSAGES,
        "temperature": 0.0,
        "max_tokens": 50,
        "stream": False,
    },
    "openai": {
        "model": "model-1",
        "messages": MESSAGES,
        "temperature": 0.0,
        "max_tokens": 50,
        "stream": False,
    },
    "ollama": {
        "model": "model-1",
        "messages": MESSAGES,
        "stream": False,
        "think": False,
        "options": {"temperature": 0.0, "num_predict": 50, "num_ctx": 4096},
    },
}


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_a_request_has_the_vendors_own_keys(vendor: Vendor) -> None:
    """Whole: route, key and body."""
    async with chat_of(vendor, vendor.answer("fine")) as (server, chat):
        await chat.complete(REQUEST)

        [received] = server.received
        assert (received.method, received.path) == ("POST", vendor.path)
        assert received.headers["authorization"] == f"Bearer {KEY}"
        assert json.loads(received.body) == BODIES[vendor.name]


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_a_stream_differs_in_what_it_must(vendor: Vendor) -> None:
    """Usage is asked for where it would not come by itself, and nowhere else: it is refused."""
    extra = {"stream_options": {"include_usage": True}} if vendor is OPENAI else {}
    async with chat_of(vendor, vendor.stream(["fine"])) as (server, chat):
        async with chat.stream(REQUEST) as stream:
            assert [piece async for piece in stream] == ["fine"]

        body = json.loads(server.received[0].body)
        assert body == {**BODIES[vendor.name], "stream": True, **extra}


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_roles_and_order_are_kept(vendor: Vendor) -> None:
    """System first, then the turns as they were."""
    roles = (ChatRole.SYSTEM, ChatRole.USER, ChatRole.ASSISTANT, ChatRole.USER)
    messages = tuple(ChatMessage(role, f"text {at}") for at, role in enumerate(roles))
    async with chat_of(vendor, vendor.answer("fine")) as (server, chat):
        await chat.complete(ChatRequest(messages, max_output_tokens=5, temperature=0.3))

        sent = json.loads(server.received[0].body)["messages"]
        assert sent == [
            {"role": role.value, "content": f"text {at}"} for at, role in enumerate(roles)
        ]


REFUSALS = [
    (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        {"max_completion_tokens": 50},
        "max_tokens",
    ),
    ("Unsupported value: 'temperature' does not support 0 with this model.", {}, "temperature"),
]


@pytest.mark.parametrize(("told", "instead", "gone"), REFUSALS, ids=["cap", "temperature"])
async def test_a_key_that_is_refused_is_not_sent_again(
    told: str, instead: dict[str, Any], gone: str
) -> None:
    """The call succeeds all the same, and the next one is right at once."""
    refusal = reply({"error": {"message": told, "type": "invalid_request_error"}}, 400)
    async with chat_of(OPENAI, refusal, reply(choice("fine"))) as (server, chat):
        assert (await chat.complete(REQUEST)).text == "fine"
        await chat.complete(REQUEST)

        bodies = [json.loads(received.body) for received in server.received]
        assert [gone in body for body in bodies] == [True, False, False]
        assert bodies[1] == bodies[2] == {**without(BODIES["openai"], gone), **instead}


async def test_a_stream_whose_options_are_refused_is_asked_for_without_them() -> None:
    """Then usage is estimated."""
    refusal = reply({"detail": [{"loc": ["body", "stream_options"], "msg": "extra"}]}, 422)
    answer = chunked(events(delta("fine", "stop")))
    async with chat_of(OPENAI, refusal, answer) as (_, chat):
        async with chat.stream(REQUEST) as stream:
            assert [piece async for piece in stream] == ["fine"]
        assert stream.completion.usage.estimated


async def test_other_refusals_are_shown_as_they_are() -> None:
    """A request that is wrong in itself is not sent a second time."""
    async with chat_of(OPENAI, reply({"error": {"message": "bad image"}}, 400)) as (server, chat):
        with pytest.raises(VendorRefused):
            await chat.complete(REQUEST)
        assert len(server.received) == 1


def without(body: dict[str, Any], key: str) -> dict[str, Any]:
    """Returns the body less one key."""
    return {name: value for name, value in body.items() if name != key}


@pytest.mark.parametrize(
    ("vendor", "reaction", "path"),
    [
        (MISTRAL, reply({"data": []}), "/v1/models"),
        (MISTRAL, reply({"message": "no Route matched"}, 404), "/v1/models"),
        (OPENAI, reply({"detail": "Not Found"}, 404), "/v1/models"),
        (OLLAMA, reply({"done": True, "done_reason": "load"}), "/api/chat"),
    ],
    ids=["mistral", "a proxy", "openai", "ollama"],
)
async def test_a_check_costs_no_tokens(vendor: Vendor, reaction: Reaction, path: str) -> None:
    """Models are listed, where there is a list; Ollama loads the model as it will be used."""
    async with chat_of(vendor, reaction) as (server, chat):
        await chat.check()

        [received] = server.received
        assert received.path == path
        if vendor is OLLAMA:
            body = json.loads(received.body)
            assert (body["messages"], body["options"]) == ([], {"num_ctx": 4096})
