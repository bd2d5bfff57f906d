"""A channel that is made anew when its certificates change.

gRPC holds on to the certificate a channel was made with. Calls under way end on the channel they
began on; those that follow go through the new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio

from chassis.certificates import Certificates, WatchedCertificates

CLOSING_GRACE_S = 300.0
"""Seconds that calls have to end on a channel that was replaced."""


class RenewedChannel(grpc.aio.Channel):
    """Passes everything on to the present channel; belongs to the running event loop."""

    def __init__(
        self,
        certificates: WatchedCertificates,
        make: Callable[[Certificates], grpc.aio.Channel],
    ) -> None:
        self._certificates = certificates
        self._make = make
        self._made_of = certificates.current()
        self._channel = make(self._made_of)
        self._replaced: dict[asyncio.Task[None], grpc.aio.Channel] = {}

    async def __aenter__(self) -> RenewedChannel:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Closes the connection, and those that were replaced."""
        for closing, channel in list(self._replaced.items()):
            closing.cancel()
            await channel.close(grace)
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Returns the state of the present connection."""
        return self._present().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the state of the present connection is another one."""
        await self._present().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until calls can be sent."""
        await self._present().channel_ready()

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls of one message each way."""
        return self._calls("unary_unary", args, kwargs)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that are answered by a stream."""
        return self._calls("unary_stream", args, kwargs)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that send a stream."""
        return self._calls("stream_unary", args, kwargs)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls with streams both ways."""
        return self._calls("stream_stream", args, kwargs)

    def _calls(self, kind: str, args: Any, kwargs: Any) -> Callable[..., Any]:
        channel = self._present()
        start = getattr(channel, kind)(*args, **kwargs)

        def call(*call_args: Any, **call_kwargs: Any) -> Any:
            nonlocal channel, start
            if self._present() is not channel:
                channel = self._channel
                start = getattr(channel, kind)(*args, **kwargs)
            return start(*call_args, **call_kwargs)

        return call

    def _present(self) -> grpc.aio.Channel:
        current = self._certificates.current()
        if current is not self._made_of:
            replaced, self._made_of = self._channel, current
            self._channel = self._make(current)
            closing = asyncio.get_running_loop().create_task(replaced.close(CLOSING_GRACE_S))
            self._replaced[closing] = replaced
            closing.add_done_callback(self._replaced.pop)
        return self._channel
