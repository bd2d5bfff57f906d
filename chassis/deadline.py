"""How much time the caller still gives, and how it is passed on.

Python gRPC hands no deadline to the next call; these two halves do. The deadline is kept on a
monotonic clock, so that a jump of the wall clock changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType

from chassis import clock as clocks
from chassis.clock import Clock
from chassis.errors import DeadlineExceeded
from chassis.interception import CalledMethod, ServicerContext, Surround


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment, in seconds of `clock`, after which nobody waits for the answer any more."""

    at: float
    clock: Clock = clocks.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = clocks.monotonic) -> Deadline:
        """Returns the deadline that many seconds from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Returns the seconds left, 0 or more."""
        return max(0.0, self.at - self.clock())

    @property
    def expired(self) -> bool:
        """Whether no time is left."""
        return self.clock() >= self.at

    def share(self, fraction: float) -> float:
        """Returns this fraction (0 to 1) of the seconds left."""
        return self.remaining() * fraction


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current_deadline() -> Deadline | None:
    """Returns the deadline of the call being served, or None if it has none."""
    return _current.get()


@contextmanager
def narrowed_deadline(seconds: float) -> Iterator[Deadline]:
    """Gives the calls made inside at most this many seconds, never more than there are."""
    outer = _current.get()
    clock = outer.clock if outer is not None else clocks.monotonic
    inner = Deadline.after(seconds, clock)
    if outer is not None and outer.at < inner.at:
        inner = outer
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)


def deadline_bound(
    default_s: float | None, by_method: Mapping[str, float | None] | None = None
) -> Surround:
    """Server half: returns what binds the caller's deadline to each call.

    Where the caller gave none, the method's own default counts (`package.Service/Method`; None
    means unlimited), else `default_s` for methods that do not stream. That default is enforced
    here, since nobody else would. A call that arrives too late is refused before any work.
    """
    own = dict(by_method or {})

    def bound(method: CalledMethod, context: ServicerContext) -> AbstractAsyncContextManager[None]:
        streaming = method.request_streaming or method.response_streaming
        default = own.get(method.full_name, None if streaming else default_s)
        return _BoundCall(context, default)

    return bound


class _BoundCall:
    __slots__ = ("_context", "_default_s", "_limit")

    def __init__(self, context: ServicerContext, default_s: float | None) -> None:
        self._context = context
        self._default_s = default_s
        self._limit: asyncio.Timeout | None = None

    async def __aenter__(self) -> None:
        given: float | None = self._context.time_remaining()
        if given is not None:
            if given <= 0:
                raise DeadlineExceeded("the deadline had passed when the call arrived")
            _current.set(Deadline.after(given))
        elif self._default_s is None:
            _current.set(None)
        else:
            _current.set(Deadline.after(self._default_s))
            self._limit = asyncio.timeout(self._default_s)
            await self._limit.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._limit is None:
            return
        try:
            await self._limit.__aexit__(kind, error, trace)
            if isinstance(error, TimeoutError) and self._limit.expired():
                raise error
        except TimeoutError as late:
            raise DeadlineExceeded(
                f"not done within {self._default_s:g} s, the default for a call without a deadline"
            ) from late


# Zero still lets a call start; a negative timeout fails it before anything is sent.
_NO_TIME_LEFT = -1.0


def outgoing_timeout(timeout: float | None) -> float | None:
    """Client half: returns the smaller of the given timeout and the time that is left."""
    deadline = current_deadline()
    if deadline is None:
        return timeout
    if deadline.expired:
        return _NO_TIME_LEFT
    remaining = deadline.remaining()
    return remaining if timeout is None else min(timeout, remaining)
