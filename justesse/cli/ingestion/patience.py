"""How long an ingestion waits for a mesh that does not answer."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from justesse.client import JustesseError, UnavailableError

T = TypeVar("T")

PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""A process of a mesh that died is started again within seconds."""


class Patience:
    """Sends again what a missing part of the mesh refused, and notes when the mesh is lost.

    It is lost once nothing answers at the gateway's address, or once more uploads in a row have
    failed than are under way together: a file that ends the process that reads it takes at most
    those beside it along.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]], uploads_at_once: int) -> None:
        self._pause = pause
        self._failures_left = uploads_at_once + 1
        self._uploads_at_once = uploads_at_once
        self._last_failure: UnavailableError | None = None

    @property
    def lost(self) -> bool:
        """The mesh is gone for good."""
        return self._last_failure is not None

    def lost_before(self, error: UnavailableError) -> bool:
        """Tells whether the mesh was lost already when this failure came."""
        return self.lost and error is not self._last_failure

    async def answer_of(self, send: Callable[[], Awaitable[T]]) -> T:
        """Returns what `send` does; raises its error where waiting does not help."""
        for pause_s in PAUSES_S:
            try:
                return self._noted(await send())
            except UnavailableError:
                if self.lost:
                    raise
                await self._pause(pause_s)
            except JustesseError:
                self._failures_left = self._uploads_at_once + 1
                raise
        try:
            return self._noted(await send())
        except UnavailableError as error:
            self._failures_left -= 1
            # A failure without a reason arose on the way: the gateway itself does not answer.
            if not self.lost and (not error.reason or self._failures_left == 0):
                self._last_failure = error
            raise

    def _noted(self, answer: T) -> T:
        self._failures_left = self._uploads_at_once + 1
        return answer
