"""Bytes that are no message of the method are refused in words, whatever the kind of the call."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from chassis.error_mapping import service_error_from
from chassis.metrics import Metrics
from chassis.server import ServedService, ServerSettings, running_server

NO_MESSAGE = b"\xff\xff\xff"
BUILDERS = {
    "unary_unary": grpc.unary_unary_rpc_method_handler,
    "unary_stream": grpc.unary_stream_rpc_method_handler,
    "stream_unary": grpc.stream_unary_rpc_method_handler,
    "stream_stream": grpc.stream_stream_rpc_method_handler,
}


async def one(request: Any, _context: object) -> Timestamp:
    """Answers with the last message."""
    last = request
    if not isinstance(request, Timestamp):
        async for message in request:
            last = message
    return Timestamp(seconds=last.seconds)


async def many(request: Any, context: object) -> AsyncIterator[Timestamp]:
    """Streams that answer."""
    yield await one(request, context)


@pytest.mark.parametrize("kind", BUILDERS)
async def test_bytes_that_are_no_message_are_an_invalid_argument(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where a stream began well; nothing is logged as an error, and sound calls are served."""
    handler = BUILDERS[kind](
        many if kind.endswith("_stream") else one,
        request_deserializer=Timestamp.FromString,
        response_serializer=Timestamp.SerializeToString,
    )
    handlers = grpc.method_handlers_generic_handler("test.Clock", {"Ask": handler})
    service = ServedService(
        "test.Clock", lambda server: server.add_generic_rpc_handlers([handlers])
    )
    sound = Timestamp(seconds=7).SerializeToString()

    async with (
        running_server([service], ServerSettings(drain_grace_s=0.0), metrics=Metrics()) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        call = getattr(channel, kind)("/test.Clock/Ask")

        async def answers(*messages: bytes) -> list[bytes]:
            running = call(iter(messages) if kind.startswith("stream") else messages[-1])
            if kind.endswith("_stream"):
                return [answer async for answer in running]
            return [await running]

        with caplog.at_level(logging.ERROR), pytest.raises(grpc.aio.AioRpcError) as refused:
            await answers(sound, NO_MESSAGE)
        assert await answers(sound) == [sound]

    error = service_error_from(refused.value)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error.reason == "MESSAGE_UNDECODABLE"
    assert "3 bytes" in error.message
    assert caplog.records == []
