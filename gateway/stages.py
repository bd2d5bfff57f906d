"""Runs the stages of a request: the only place with stage time-outs and the rule of softening."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, ServiceError
from chassis.tracing.spans import span
from gateway.receipt import Cost, StageOutcome, StageReport, sum_costs
from gateway.stage_merge import StagePart, merged
from gateway.stage_times import StageTimes

T = TypeVar("T")

LATE = "DEADLINE_EXCEEDED"
SHORTEST_STAGE_S = 0.002
"""An optional stage with less time than one hop takes is not called at all."""

_SERVICES = {
    "rewrite": "rewriter",
    "embed": "embedder",
    "search": "retriever",
    "rerank": "reranker",
    "explain": "retriever",
    "parents": "retriever",
}


class Stages:
    """Runs stages within shares of what is left of a deadline, and keeps their reports.

    Every call is given its time-out in seconds. What a call returns may hold a StageReport as
    `report`. A stage may consist of several calls; their reports become one.
    """

    def __init__(
        self, deadline: Deadline, order: Sequence[str], times: StageTimes | None = None
    ) -> None:
        """With `times`, optional calls that would hardly be done in time are not made."""
        self._deadline = deadline
        self._times = times
        self.clock = deadline.clock
        self._parts: dict[str, list[StagePart]] = {stage: [] for stage in order}

    async def required(
        self, stage: str, call: Callable[[float], Awaitable[T]], *, share: float
    ) -> T:
        """Returns what the call returns; its errors, a time-out among them, are the request's."""
        started = self.clock()
        result = await self._bounded(stage, call, share)
        self._note_result(stage, result, started)
        return result

    async def optional(
        self,
        stage: str,
        call: Callable[[float], Awaitable[T]],
        *,
        share: float,
        subject: str = "",
        timed: bool = True,
    ) -> T | None:
        """Returns None where the call fails with a ServiceError, is late, or was lately too slow.

        A call that is not `timed` asks no service, and is always made. The loss is reported, with
        `subject` in front of its words. Any other exception is a bug and passes.
        """
        started = self.clock()
        times = self._times if timed else None
        begun = False
        try:
            self._require_time(stage, share, times)
            begun = True
            result = await self._bounded(stage, call, share)
        except ServiceError as error:
            if begun and times is not None and error.reason == LATE:
                times.given_up(stage, self.clock() - started)
            detail = f"{subject}: {error.message}" if subject else error.message
            self._note(StageReport(stage, StageOutcome.DEGRADED, error.reason, detail), started)
            return None
        if times is not None:
            times.answered(stage, self.clock() - started)
        self._note_result(stage, result, started)
        return result

    def switched_off(self, stage: str, key: str) -> None:
        """Notes that the stage was not called because the switch `key` is off."""
        report = StageReport(stage, StageOutcome.SWITCHED_OFF, "SWITCHED_OFF", f"{key} is off")
        self._note(report, self.clock())

    def skipped(self, stage: str, reason: str, detail: str) -> None:
        """Notes that the stage had nothing to do."""
        self._note(StageReport(stage, StageOutcome.SKIPPED, reason, detail), self.clock())

    def degraded(self, stage: str, reason: str, detail: str) -> None:
        """Notes a loss of quality that no call reported."""
        self._note(StageReport(stage, StageOutcome.DEGRADED, reason, detail), self.clock())

    def explained(self, stage: str, detail: str) -> None:
        """Adds words to a stage that ran."""
        self._note(StageReport(stage, StageOutcome.RAN, detail=detail), self.clock())

    def note(self, report: StageReport, started: float) -> None:
        """Notes what a stage did that ends now; `started` is a moment of `clock`."""
        self._note(report, started)

    def reports(self) -> tuple[StageReport, ...]:
        """Returns one report a stage, in the given order, without those that noted nothing."""
        return tuple(merged(parts) for parts in self._parts.values() if parts)

    def costs(self) -> tuple[Cost, ...]:
        """Returns the sum of the known costs of all calls, one a currency."""
        return sum_costs([part.report for parts in self._parts.values() for part in parts])

    def _require_time(self, stage: str, share: float, times: StageTimes | None) -> None:
        seconds = self._deadline.share(share)
        if seconds < SHORTEST_STAGE_S:
            raise DeadlineExceeded(f"no time was left for stage {stage}")
        if times is not None and not times.admits(stage, seconds):
            raise DeadlineExceeded(
                f"stage {stage} was not begun: lately one in twenty of its calls took longer than "
                f"the {seconds * 1e3:.0f} ms there are",
                reason="STAGE_TOO_SLOW",
            )

    async def _bounded(self, stage: str, call: Callable[[float], Awaitable[T]], share: float) -> T:
        timeout = self._deadline.share(share)
        try:
            with span(f"stage {stage}", {"justesse.stage": stage}) as running:
                async with asyncio.timeout(timeout):
                    result = await call(timeout)
                report = getattr(result, "report", None)
                if running is not None and isinstance(report, StageReport):
                    running.set_attribute("justesse.stage.outcome", report.outcome.value)
                return result
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"the {_SERVICES.get(stage, stage)} did not answer within stage {stage}'s share "
                f"of the time, {timeout * 1e3:.0f} ms",
                reason=LATE,
            ) from error

    def _note_result(self, stage: str, result: object, started: float) -> None:
        report = getattr(result, "report", None)
        if isinstance(report, StageReport):
            self._note(report if report.stage == stage else replace(report, stage=stage), started)

    def _note(self, report: StageReport, started: float) -> None:
        part = StagePart(report, started, self.clock())
        self._parts[report.stage].append(part)
