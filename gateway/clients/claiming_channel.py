"""A channel to the retriever whose calls carry a claim for the workspace they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import grpc
import grpc.aio

from chassis.signed_claims import METADATA_KEY, SignedClaims
from gateway.clients.opened_stream import OpenedStream

EVERY_WORKSPACE = "*"

ActionFor = Callable[[str], str]
"""Takes a workspace and returns the action to claim in it, empty for none."""


class ClaimingChannel(grpc.aio.Channel):
    """A channel over another one, which stays its maker's to close."""

    def __init__(
        self, channel: grpc.aio.Channel, claims: SignedClaims, action_for: ActionFor
    ) -> None:
        self._channel = channel
        self._claims = claims
        self._action_for = action_for

    async def __aenter__(self) -> ClaimingChannel:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        return

    async def close(self, grace: float | None = None) -> None:
        """Leaves the channel open."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Returns the state of the connection."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the state is another one."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until calls can be sent."""
        await self._channel.channel_ready()

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls of one message each way."""
        start = self._channel.unary_unary(*args, **kwargs)

        def call(request: Any, *, metadata: Any = None, **terms: Any) -> Any:
            return start(request, metadata=self._with_claim(metadata, request), **terms)

        return call

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that send a stream, whose first message is there already."""
        start = self._channel.stream_unary(*args, **kwargs)

        def call(
            requests: Iterable[Any] | OpenedStream, *, metadata: Any = None, **terms: Any
        ) -> Any:
            if isinstance(requests, OpenedStream):
                carried = self._with_claim(metadata, requests.first.header)
                return start(requests, metadata=carried, **terms)
            following = iter(requests)
            first = next(following)
            carried = self._with_claim(metadata, first.header)
            return start(chain((first,), following), metadata=carried, **terms)

        return call

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what makes calls that are answered by a stream."""
        start = self._channel.unary_stream(*args, **kwargs)

        def call(request: Any, *, metadata: Any = None, **terms: Any) -> Any:
            return start(request, metadata=self._with_claim(metadata, request), **terms)

        return call

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Is not used by the retriever's contract."""
        raise NotImplementedError("the retriever answers no stream by a stream")

    def _with_claim(self, metadata: Any, message: Any) -> list[tuple[str, str | bytes]]:
        workspace = workspace_of(message)
        action = self._action_for(workspace)
        carried = list(metadata or ())
        if action:
            carried.append((METADATA_KEY, self._claims.sign(workspace, action)))
        return carried


def workspace_of(message: Any) -> str:
    """Returns the workspace that a request names; * where it is about none."""
    named = getattr(message, "search", message)
    return str(getattr(named, "workspace", "") or getattr(named, "slug", EVERY_WORKSPACE))
