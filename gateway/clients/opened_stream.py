"""A stream of requests whose first one is known before it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any


class OpenedStream(AsyncIterator[Any]):
    """Is sent as the requests of a call; where the rest fails, so does the call.

    The call is cancelled then, which its caller could not tell from a cancellation of its own:
    `failure` is what went wrong.
    """

    def __init__(self, first: Any, rest: AsyncIterator[Any]) -> None:
        self.first = first
        """The opening request."""
        self.failure: Exception | None = None
        self._rest = rest
        self._opened = False

    async def __anext__(self) -> Any:
        if not self._opened:
            self._opened = True
            return self.first
        try:
            return await anext(self._rest)
        except StopAsyncIteration:
            raise
        except Exception as error:
            self.failure = error
            raise
