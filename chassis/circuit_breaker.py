"""Stops calling what keeps failing, and finds out with single probes when it is back.

Closed: every call passes. After `threshold` failures in a row it opens: calls are refused at
once. After a pause it is half-open: ONE call passes as a probe, the others are still refused.
The probe's success closes it, its failure opens it again for twice as long, up to a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from chassis import clock as clocks
from chassis.clock import Clock
from chassis.errors import Unavailable


class BreakerState(Enum):
    """Whether calls pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitOpen(Unavailable):
    """The call was refused without being tried, since those before it failed."""

    default_reason = "CIRCUIT_OPEN"


StateChange = Callable[[str, BreakerState, BreakerState], None]


class CircuitBreaker:
    """One breaker for one thing that can fail; used on one event loop, so without a lock.

    `on_change(name, old, new)` is called at each change of state, for metrics and alarms.
    """

    def __init__(
        self,
        name: str,
        *,
        threshold: int = 5,
        open_s: float = 30.0,
        max_open_s: float = 300.0,
        clock: Clock = clocks.monotonic,
        on_change: StateChange | None = None,
    ) -> None:
        if threshold < 1 or not 0 < open_s <= max_open_s:
            raise ValueError("threshold must be at least 1, and 0 < open_s <= max_open_s")
        self.name = name
        self._threshold = threshold
        self._first_open_s = open_s
        self._max_open_s = max_open_s
        self._clock = clock
        self._on_change = on_change
        self._state = BreakerState.CLOSED
        self._failures = 0
        self._open_s = open_s
        self._open_until = 0.0
        self._probing = False
        # Calls that began before the last change of state say nothing about the new one.
        self._epoch = 0

    @property
    def state(self) -> BreakerState:
        """The state now; an open breaker whose pause is over is half-open."""
        if self._state is BreakerState.OPEN and self._clock() >= self._open_until:
            self._change(BreakerState.HALF_OPEN)
        return self._state

    @contextmanager
    def attempt(
        self, is_failure: Callable[[Exception], bool | None] = lambda _: True
    ) -> Iterator[None]:
        """Surrounds one call; raises CircuitOpen instead of letting it begin.

        An exception counts as a failure where `is_failure` says True, like a success where it
        says False (what answers with a refusal is alive), and as neither where it says None. A
        cancelled call counts as neither.
        """
        epoch = self._enter()
        try:
            yield
        except Exception as error:
            failed = is_failure(error)
            if failed is None:
                self._release(epoch)
            else:
                self._leave(epoch, failed=failed)
            raise
        except BaseException:
            self._release(epoch)
            raise
        else:
            self._leave(epoch, failed=False)

    def refuse_if_open(self) -> None:
        """Raises CircuitOpen if a call that began now would be refused."""
        if not self._would_pass():
            raise self._refusal()

    def trip(self) -> None:
        """Opens at once, as for a key that is refused: one failure is proof enough."""
        self._open()

    def _enter(self) -> int:
        self.refuse_if_open()
        if self._state is BreakerState.HALF_OPEN:
            self._probing = True
        return self._epoch

    def _would_pass(self) -> bool:
        state = self.state
        return state is BreakerState.CLOSED or (
            state is BreakerState.HALF_OPEN and not self._probing
        )

    def _refusal(self) -> CircuitOpen:
        left = max(0.0, self._open_until - self._clock())
        return CircuitOpen(
            f"{self.name} is not called, as it failed repeatedly; next try in {left:.0f} s",
            retry_after_s=left,
        )

    def _release(self, epoch: int) -> None:
        if epoch == self._epoch:
            self._probing = False

    def _leave(self, epoch: int, *, failed: bool) -> None:
        if epoch != self._epoch:
            return
        if self._state is BreakerState.HALF_OPEN:
            if failed:
                self._open_s = min(self._max_open_s, self._open_s * 2)
                self._open()
            else:
                self._open_s = self._first_open_s
                self._failures = 0
                self._change(BreakerState.CLOSED)
            return
        self._failures = self._failures + 1 if failed else 0
        if self._failures >= self._threshold:
            self._open()

    def _open(self) -> None:
        self._failures = 0
        self._open_until = self._clock() + self._open_s
        self._change(BreakerState.OPEN)

    def _change(self, new: BreakerState) -> None:
        old, self._state = self._state, new
        self._epoch += 1
        self._probing = False
        if old is not new and self._on_change is not None:
            self._on_change(self.name, old, new)
