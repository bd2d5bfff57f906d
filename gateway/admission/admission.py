"""Lets in as many calls as can be worked on; the rest waits a little, or is told to come later."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import TracebackType

from chassis.deadline import current_deadline
from chassis.errors import DeadlineExceeded, ResourceExhausted
from gateway.admission.admission_metrics import AdmissionMetrics
from gateway.admission.turns import Turns


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """Calls at work and waiting at the same time, and the seconds for which one waits at most."""

    at_work: int
    waiting: int
    longest_wait_s: float


UNBOUNDED = AdmissionLimits(at_work=1_000_000, waiting=0, longest_wait_s=0.0)


class Admission:
    """Bounds one kind of work; both doors of the gateway share it. Belongs to one event loop.

    Queries and ingestion have one each, so that no upload ever holds the place of a query; health
    is asked elsewhere and never waits.
    """

    def __init__(self, limits: AdmissionLimits, metrics: AdmissionMetrics | None = None) -> None:
        self.limits = limits
        self._metrics = metrics
        self._turns = Turns()
        if metrics is not None:
            metrics.at_work.set_function(lambda: self._turns.at_work_count)
            metrics.waiting.set_function(lambda: self._turns.waiting_count)

    @property
    def is_full(self) -> bool:
        """No call can be let in or wait without another going."""
        turns, limits = self._turns, self.limits
        return turns.at_work_count >= limits.at_work and turns.waiting_count >= limits.waiting

    def place_for(self, workspace: str) -> Place:
        """Returns what holds a place while inside; it waits for one where all are taken.

        ResourceExhausted, with the seconds after which to come again: too many wait already, or the
        wait was too long. DeadlineExceeded: the caller's time ended before its turn. A caller who
        leaves gives up its turn. In each case no work was done.
        """
        return Place(self, workspace)

    async def enter(self, workspace: str) -> None:
        """Takes a place, to be left again."""
        turns = self._turns
        if turns.at_work_count < self.limits.at_work and not turns.waiting_count:
            turns.begin(workspace)
        else:
            await self._wait(workspace)
        if self._metrics is not None:
            self._metrics.admitted.inc()

    def leave(self, workspace: str) -> None:
        """Gives a place back, and on to whoever is next."""
        self._turns.end(workspace)
        self._turns.give_next()

    async def _wait(self, workspace: str) -> None:
        turns, limits = self._turns, self.limits
        if turns.waiting_count >= limits.waiting:
            pushed_out = turns.last_of_longest(workspace) if limits.waiting else None
            if pushed_out is None:
                raise self._refused("queue_full")
            if not pushed_out.done():
                pushed_out.set_exception(self._refused("queue_full"))
        waiting = turns.wait(workspace)
        deadline = current_deadline()
        wait_s = limits.longest_wait_s
        expires = False
        if deadline is not None and deadline.remaining() <= wait_s:
            expires, wait_s = True, deadline.remaining()
        try:
            async with asyncio.timeout(wait_s):
                await waiting
        except TimeoutError:
            self._give_up(workspace, waiting)
            if expires:
                self.count_refused("expired")
                raise DeadlineExceeded(
                    f"no turn came within the {wait_s * 1e3:.0f} ms that the caller had; nothing "
                    "was done",
                    reason="EXPIRED_WAITING",
                ) from None
            raise self._refused("waited_too_long") from None
        except asyncio.CancelledError:
            self._give_up(workspace, waiting)
            self.count_refused("cancelled")
            raise

    def _give_up(self, workspace: str, waiting: asyncio.Future[None]) -> None:
        """Gives back the place that came at the last moment, or the turn."""
        if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
            self.leave(workspace)
        else:
            self._turns.leave(workspace, waiting)

    def _refused(self, why: str) -> ResourceExhausted:
        self.count_refused(why)
        return ResourceExhausted(
            f"the gateway works on {self._turns.at_work_count} calls of this kind, and "
            f"{self._turns.waiting_count} wait: come again later",
            retry_after_s=self.limits.longest_wait_s,
            reason="OVERLOADED",
        )

    def count_refused(self, why: str) -> None:
        """Counts a call that was not let in."""
        if self._metrics is not None:
            self._metrics.refused.labels(why).inc()


class Place:
    """A place at work for one call, from `async with` to its end."""

    __slots__ = ("_admission", "_workspace")

    def __init__(self, admission: Admission, workspace: str) -> None:
        self._admission = admission
        self._workspace = workspace

    async def __aenter__(self) -> None:
        await self._admission.enter(self._workspace)

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._admission.leave(self._workspace)
