"""What every outgoing call carries: the request id, the time that is left, and its measurement.

Calls of streams get it from interceptors. Those of grpc.aio run each call in a second task, which
takes longer than all that is done to the call; so calls of one message each way, which a search is
made of, get it from the channel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio
from opentelemetry.trace import Span

from chassis import deadline, request_id
from chassis.metrics import Metrics, client_call_measured
from chassis.request_stream import RefusalKept
from chassis.tracing.calls import add_context, end_with_call, started_call


class Outgoing:
    """What is done to each call, whatever its kind; in this order: id, deadline, metrics.

    `server` is the address that is called, for the spans of its calls.
    """

    def __init__(self, metrics: Metrics, server: str = "") -> None:
        self._metrics = metrics
        self._server = server

    def span(self, path: str) -> Span | None:
        """Starts the span of a call of `/package.Service/Method`; None while none are wanted."""
        return started_call(path, self._server)

    def timeout(self, given: float | None) -> float | None:
        """Returns the seconds that the call may take."""
        return deadline.outgoing_timeout(given)

    def metadata(self, given: Any, span: Span | None) -> grpc.aio.Metadata:
        """Returns the metadata that the call sends."""
        pairs = request_id.outgoing_metadata(given)
        if span is not None:
            add_context(pairs, span)
        return grpc.aio.Metadata(*pairs)

    def started(self, path: str, call: grpc.aio.Call, span: Span | None) -> None:
        """Measures the call of a method (`/package.Service/Method`) once it ends."""
        client_call_measured(self._metrics, path, call)
        if span is not None:
            end_with_call(span, call)


class CarryingChannel(grpc.aio.Channel):
    """A channel over another one, which it owns and which does all but calls of one message."""

    def __init__(self, channel: grpc.aio.Channel, outgoing: Outgoing) -> None:
        self._channel = channel
        self._outgoing = outgoing

    async def __aenter__(self) -> CarryingChannel:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Closes the connection; calls under way have `grace` seconds to end."""
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Returns the state of the connection."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the state is another one."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until calls can be sent."""
        await self._channel.channel_ready()

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls of one message each way."""
        start: Callable[..., grpc.aio.Call] = self._channel.unary_unary(method, *args, **kwargs)
        outgoing = self._outgoing

        def call(
            request: Any,
            *,
            timeout: float | None = None,
            metadata: Any = None,
            credentials: grpc.CallCredentials | None = None,
            wait_for_ready: bool | None = None,
            compression: grpc.Compression | None = None,
        ) -> grpc.aio.Call:
            span = outgoing.span(method)
            started = start(
                request,
                timeout=outgoing.timeout(timeout),
                metadata=outgoing.metadata(metadata, span),
                credentials=credentials,
                wait_for_ready=wait_for_ready,
                compression=compression,
            )
            outgoing.started(method, started, span)
            return started

        return call

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that are answered by a stream."""
        return self._channel.unary_stream(*args, **kwargs)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that send a stream."""
        return self._channel.stream_unary(*args, **kwargs)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls with streams both ways."""
        return self._channel.stream_stream(*args, **kwargs)


def stream_interceptors(outgoing: Outgoing) -> list[grpc.aio.ClientInterceptor]:
    """Returns the interceptors of all kinds of streams."""
    return [kind(outgoing) for kind in (_UnaryStream, _StreamUnary, _StreamStream)]


class _Carrying:
    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing

    async def _start(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        method = details.method
        path = method.decode() if isinstance(method, bytes) else method
        span = self._outgoing.span(path)
        carried = grpc.aio.ClientCallDetails(
            details.method,
            self._outgoing.timeout(details.timeout),
            self._outgoing.metadata(details.metadata, span),
            details.credentials,
            details.wait_for_ready,
        )
        call = await continuation(carried, request)
        self._outgoing.started(path, call, span)
        return call


# grpc.aio sorts interceptors by class, and takes each for the first kind that fits.
class _UnaryStream(_Carrying, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(
        self, continuation: Any, client_call_details: Any, request: Any
    ) -> Any:
        return await self._start(continuation, client_call_details, request)


class _StreamUnary(_Carrying, grpc.aio.StreamUnaryClientInterceptor):
    async def intercept_stream_unary(
        self, continuation: Any, client_call_details: Any, request_iterator: Any
    ) -> Any:
        return RefusalKept(await self._start(continuation, client_call_details, request_iterator))


class _StreamStream(_Carrying, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(
        self, continuation: Any, client_call_details: Any, request_iterator: Any
    ) -> Any:
        return await self._start(continuation, client_call_details, request_iterator)
