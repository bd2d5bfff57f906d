"""What every outgoing call carries: the request id, the time that is left, and its measurement.

A channel of its own rather than interceptors: those of grpc.aio run each call in a second task,
which takes longer than all that is done to the call here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio

from chassis import deadline, request_id
from chassis.metrics import Metrics, client_call_measured
from chassis.request_stream import RefusalKept


class CarryingChannel(grpc.aio.Channel):
    """Passes every call on to another channel, which it owns."""

    def __init__(self, channel: grpc.aio.Channel, metrics: Metrics) -> None:
        self._channel = channel
        self._metrics = metrics

    async def __aenter__(self) -> CarryingChannel:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Closes the channel underneath; calls under way have `grace` seconds to end."""
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
        """Returns what makes calls of one request and one response."""
        return self._carrying(method, self._channel.unary_unary(method, *args, **kwargs))

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that are answered by a stream."""
        return self._carrying(method, self._channel.unary_stream(method, *args, **kwargs))

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that send a stream; their error is the server's own."""
        carried = self._carrying(method, self._channel.stream_unary(method, *args, **kwargs))

        def call(*args: Any, **kwargs: Any) -> RefusalKept:
            return RefusalKept(carried(*args, **kwargs))

        return call

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls with streams both ways."""
        return self._carrying(method, self._channel.stream_stream(method, *args, **kwargs))

    def _carrying(self, method: str, start: Callable[..., grpc.aio.Call]) -> Callable[..., Any]:
        metrics = self._metrics

        def call(
            request: Any = None, *, timeout: float | None = None, metadata: Any = None, **others: Any
        ) -> grpc.aio.Call:
            started = start(
                request,
                timeout=deadline.outgoing_timeout(timeout),
                metadata=request_id.outgoing_metadata(metadata),
                **others,
            )
            client_call_measured(metrics, method, started)
            return started

        return call
