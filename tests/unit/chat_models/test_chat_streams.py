"""Answers that come piece by piece: as written, without reasoning, and whole or failed."""

from __future__ import annotations

import asyncio

import pytest

from chassis.circuit_breaker import BreakerState
from chassis.vendor_errors import VendorError, VendorGarbled, VendorUnavailable, VendorUnusable
from chat_models.chat import FinishReason, TokenUsage
from chat_models.hosted import HostedChat
from chat_models.protocol import ChatStream
from tests.fakes.chat_vendor import (
    OLLAMA,
    OPENAI,
    REQUEST,
    VENDORS,
    Vendor,
    chat_of,
    delta,
    events,
    json_lines,
    ollama_answer,
)
from tests.fakes.vendor import Reaction, chunked, hang, reply

USAGE = {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5}}


async def pieces_of(chat: HostedChat) -> list[str]:
    """Reads a stream to its end."""
    async with chat.stream(REQUEST) as stream:
        return [piece async for piece in stream]


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_pieces_come_as_they_were_written(vendor: Vendor) -> None:
    """And the completion sums them up, with the vendor's count of tokens."""
    async with (
        chat_of(vendor, vendor.stream(["délai ", "de ", "", "livraison "])) as (_, chat),
        chat.stream(REQUEST) as stream,
    ):
        assert [piece async for piece in stream] == ["délai ", "de ", "livraison "]

        completion = stream.completion
        assert completion.text == "délai de livraison"
        assert (completion.usage, completion.finish_reason) == (
            TokenUsage(20, 5),
            FinishReason.STOP,
        )
        assert completion.cost == pytest.approx(20 * 1e-6 + 5 * 10e-6)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_reasoning_is_taken_out_of_a_stream(vendor: Vendor) -> None:
    """Though its tags are cut, and the last block has no end."""
    pieces = ["<th", "ink>foo</thi", "nk>\n\nprix ", "du gaz<", "think>bar"]
    async with chat_of(vendor, vendor.stream(pieces)) as (_, chat):
        assert "".join(await pieces_of(chat)) == "prix du gaz"


async def test_bytes_may_be_cut_anywhere() -> None:
    """Also inside a character, a line end or a word of the protocol."""
    sent = b": PROCESSING\r\n\r\n" + events(delta("été à "), delta("日本", "stop"), USAGE)
    async with chat_of(OPENAI, chunked(*(bytes([byte]) for byte in sent))) as (_, chat):
        assert await pieces_of(chat) == ["été à ", "日本"]


ROLE = {"choices": [{"delta": {"role": "assistant"}}]}
STREAMS = {
    "role first": events(ROLE, delta("a", "stop")),
    "null content": events(delta(None), delta("a"), delta(None, "stop")),
    "parts": events(delta([{"type": "text", "text": "a"}]), delta("", "stop")),
    "no DONE": events(delta("a"), delta("", "stop"), done=False),
    "no blank line": events(delta("a", "stop"), done=False).strip(),
    "after DONE": events(delta("a", "stop")) + b"data: {broken\n\n",
    "usage with the text": events(delta("a", "stop", usage=USAGE["usage"])),
    "null usage": events(delta("a", usage=None), delta("", "stop", usage=None)),
}


@pytest.mark.parametrize("sent", STREAMS.values(), ids=STREAMS.keys())
async def test_streams_of_many_kinds(sent: bytes) -> None:
    """What servers leave out, add or do otherwise changes nothing."""
    async with chat_of(OPENAI, chunked(sent)) as (_, chat):
        assert await pieces_of(chat) == ["a"]


async def test_missing_usage_is_estimated() -> None:
    """Where a server does not count."""
    async with (
        chat_of(OPENAI, chunked(events(delta("délai de livraison", "stop")))) as (_, chat),
        chat.stream(REQUEST) as stream,
    ):
        assert [piece async for piece in stream]
        assert stream.completion.usage.estimated
        assert stream.completion.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("delta_reason", "reason"), [("length", "length"), ("content_filter", "refused")]
)
async def test_why_it_stopped_is_told(delta_reason: str, reason: str) -> None:
    """A cut answer is no whole one."""
    sent = events(delta("prix"), delta("", delta_reason), USAGE)
    async with chat_of(OPENAI, chunked(sent)) as (_, chat), chat.stream(REQUEST) as stream:
        assert [piece async for piece in stream] == ["prix"]
        assert stream.completion.finish_reason is FinishReason(reason)


async def test_a_refusal_in_a_stream_is_one() -> None:
    """It comes beside the content, and the last chunk says only that it stopped."""
    piece = {"choices": [{"delta": {"refusal": "I cannot."}, "finish_reason": None}]}
    async with (
        chat_of(OPENAI, chunked(events(piece, delta("", "stop")))) as (_, chat),
        chat.stream(REQUEST) as stream,
    ):
        assert [piece async for piece in stream] == []
        assert stream.completion.finish_reason is FinishReason.REFUSED


BROKEN: list[tuple[str, Vendor, Reaction, type[VendorError]]] = [
    ("error first", OPENAI, chunked(events({"error": {"message": "x"}})), VendorUnusable),
    ("no word", OPENAI, chunked(events(delta("", "stop"))), VendorUnusable),
    ("nothing", OPENAI, chunked(events()), VendorUnusable),
    ("whole answer", OPENAI, reply({"choices": []}), VendorUnusable),
    ("no json", OPENAI, chunked(b"data: {broken\n\n"), VendorGarbled),
    ("error line", OLLAMA, chunked(json_lines({"error": "stopped"})), VendorUnusable),
    ("no json line", OLLAMA, chunked(b"busy\n"), VendorGarbled),
]


@pytest.mark.parametrize(
    ("vendor", "reaction", "error"), [e[1:] for e in BROKEN], ids=[e[0] for e in BROKEN]
)
async def test_what_fails_before_the_first_piece_fails_at_once(
    vendor: Vendor, reaction: Reaction, error: type[VendorError]
) -> None:
    """So that another model can still be asked."""
    async with chat_of(vendor, reaction) as (_, chat):
        with pytest.raises(error):
            async with chat.stream(REQUEST):
                raise AssertionError("the stream began")


AMID: list[tuple[str, Vendor, Reaction, type[VendorError]]] = [
    (
        "error event",
        OPENAI,
        chunked(events(delta("prix"), {"error": {"message": "overloaded"}})),
        VendorUnusable,
    ),
    ("ended early", OPENAI, chunked(events(delta("prix"), done=False)), VendorUnusable),
    ("DONE without reason", OPENAI, chunked(events(delta("prix"))), VendorUnusable),
    (
        "connection lost",
        OPENAI,
        chunked(events(delta("prix"), done=False), ending="cut"),
        VendorUnavailable,
    ),
    (
        "error line",
        OLLAMA,
        chunked(json_lines({"message": {"content": "prix"}}, {"error": "runner stopped"})),
        VendorUnusable,
    ),
    (
        "ended early, lines",
        OLLAMA,
        chunked(json_lines({"message": {"content": "prix"}, "done": False})),
        VendorUnusable,
    ),
]


@pytest.mark.parametrize(
    ("vendor", "reaction", "error"), [e[1:] for e in AMID], ids=[e[0] for e in AMID]
)
async def test_an_answer_that_breaks_off_is_not_taken_for_whole(
    vendor: Vendor, reaction: Reaction, error: type[VendorError]
) -> None:
    """The pieces before are there, then comes the error, and nothing is asked a second time."""
    read: list[str] = []
    streams: list[ChatStream] = []

    async def reading(chat: HostedChat) -> None:
        async with chat.stream(REQUEST) as stream:
            streams.append(stream)
            async for piece in stream:
                read.append(piece)

    async with chat_of(vendor, reaction) as (server, chat):
        with pytest.raises(error):
            await reading(chat)
        assert len(server.received) == 1
    assert read == ["prix"]
    with pytest.raises(RuntimeError, match="to its end"):
        _ = streams[0].completion


async def test_ollama_ends_with_its_last_line() -> None:
    """Even if the connection stays open; blank lines mean nothing."""
    sent = b"\n" + json_lines({"message": {"content": "prix"}, "done": False}, ollama_answer(""))
    async with chat_of(OLLAMA, chunked(sent, ending="silent")) as (_, chat):
        assert await pieces_of(chat) == ["prix"]


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_cancelling_stops_the_vendor(vendor: Vendor) -> None:
    """Whole or streamed: the connection is closed, and the breaker takes it for nothing."""
    async with chat_of(vendor, hang()) as (server, chat):
        for reading in (chat.complete(REQUEST), pieces_of(chat)):
            server.reached.clear()
            task = asyncio.ensure_future(reading)
            await server.reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.left()
        assert chat._client.breaker.state is BreakerState.CLOSED
