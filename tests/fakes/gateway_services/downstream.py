"""Services behind the gateway on a real gRPC server, each method answering as the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message

from chassis.channel import open_channel
from chassis.interception import ServicerContext
from chassis.metrics import Metrics
from chassis.server import ServedService, ServerSettings, running_server

Answer = Callable[[Any], Message | Awaitable[Message]]
"""Takes a request, or the list of requests of a stream, and returns, raises or is awaited."""


@dataclass
class Downstream:
    """A channel to the server, and the requests it has seen, a list for each stream."""

    channel: grpc.aio.Channel
    address: str
    seen: list[Any] = field(default_factory=list)


@asynccontextmanager
async def downstream(
    answers: Mapping[str, Answer], *, reads_streams: bool = True
) -> AsyncIterator[Downstream]:
    """Serves methods named `package.Service.Method`; errors are mapped as every service does.

    Without `reads_streams`, only the first message of a stream is read before the answer is made.
    """
    seen: list[Any] = []
    by_service: dict[str, dict[str, Any]] = {}
    for name, answer in answers.items():
        service, _, method = name.rpartition(".")
        by_service.setdefault(service, {})[method] = _handler(name, answer, seen, reads_streams)
    services = [_served(service, handlers) for service, handlers in by_service.items()]
    metrics = Metrics()
    async with (
        running_server(services, ServerSettings(drain_grace_s=0.0), metrics=metrics) as server,
        open_channel(server.address, metrics=metrics) as channel,
    ):
        yield Downstream(channel, server.address, seen)


def _served(service: str, handlers: dict[str, Any]) -> ServedService:
    generic = grpc.method_handlers_generic_handler(service, handlers)
    return ServedService(service, lambda server: server.add_generic_rpc_handlers([generic]))


def _handler(name: str, answer: Answer, seen: list[Any], reads_streams: bool) -> Any:
    method = descriptor_pool.Default().FindMethodByName(name)
    request_class = message_factory.GetMessageClass(method.input_type)

    async def unary(request: Message, _context: ServicerContext) -> Message:
        seen.append(request)
        return await _settled(answer(request))

    async def stream(requests: AsyncIterator[Message], _context: ServicerContext) -> Message:
        received = [await anext(requests)]
        if reads_streams:
            received += [request async for request in requests]
        seen.append(received)
        return await _settled(answer(received))

    build: Any = grpc.unary_unary_rpc_method_handler
    behaviour: Any = unary
    if method.client_streaming:
        build, behaviour = grpc.stream_unary_rpc_method_handler, stream
    return build(
        behaviour,
        request_deserializer=request_class.FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )


async def _settled(answer: Message | Awaitable[Message]) -> Message:
    return answer if isinstance(answer, Message) else await answer
