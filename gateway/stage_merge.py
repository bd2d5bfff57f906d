"""Several calls of one stage told as one report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.receipt import StageOutcome, StageReport, sum_costs

_WEIGHTIEST_FIRST = (
    StageOutcome.DEGRADED,
    StageOutcome.RAN,
    StageOutcome.SWITCHED_OFF,
    StageOutcome.SKIPPED,
)


@dataclass(frozen=True, slots=True)
class StagePart:
    """One call of a stage; `started` and `ended` are seconds of one monotonic clock."""

    report: StageReport
    started: float
    ended: float


def merged(parts: Sequence[StagePart]) -> StageReport:
    """Tells at least one part as one report.

    The weightiest outcome counts (degraded, ran, switched off, skipped), with the words of its
    parts. Tokens and costs are added up; a cost is unknown where currencies differ. The latency is
    the time during which at least one part was running, in milliseconds.
    """
    if len(parts) == 1:
        return parts[0].report.lasting(_busy_s(parts) * 1e3)
    reports = [part.report for part in parts]
    outcome = next(
        outcome
        for outcome in _WEIGHTIEST_FIRST
        if any(report.outcome is outcome for report in reports)
    )
    weightiest = [report for report in reports if report.outcome is outcome]
    costs = sum_costs(reports)
    return StageReport(
        stage=reports[0].stage,
        outcome=outcome,
        reason=weightiest[0].reason,
        detail="; ".join(_distinct(report.detail for report in weightiest)),
        provider=", ".join(_distinct(report.provider for report in reports)),
        model=", ".join(_distinct(report.model for report in reports)),
        latency_ms=_busy_s(parts) * 1e3,
        input_token_count=sum(report.input_token_count for report in reports),
        output_token_count=sum(report.output_token_count for report in reports),
        cost=costs[0].amount if len(costs) == 1 else None,
        currency=costs[0].currency if len(costs) == 1 else "",
    )


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for word in words if word))


def _busy_s(parts: Sequence[StagePart]) -> float:
    """Length of the union of the parts' intervals, in seconds."""
    busy, covered_until = 0.0, float("-inf")
    for part in sorted(parts, key=lambda part: part.started):
        busy += max(0.0, part.ended - max(part.started, covered_until))
        covered_until = max(covered_until, part.ended)
    return busy
