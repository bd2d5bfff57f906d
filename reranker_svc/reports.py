"""The stage reports of a reranking."""

from collections.abc import Sequence
from dataclasses import replace

from chassis.errors import ServiceError
from reranker_svc.bill import Bill
from reranker_svc.passage_model import ModelOrder
from reranker_svc.reranking import StageOutcome, StageReport


def by_formula(failures: Sequence[ServiceError]) -> StageReport:
    """Reports that the embedded formula sorted, after these failures."""
    return _sorted_after(
        failures, StageReport(StageOutcome.RAN, provider="embedded", model="formula")
    )


def by_model(answer: ModelOrder, failures: Sequence[ServiceError]) -> StageReport:
    """Reports that a model sorted, after these failures."""
    report = StageReport(
        StageOutcome.RAN,
        provider=answer.provider,
        model=answer.model,
    )
    return _sorted_after(failures, report)


def no_candidates() -> StageReport:
    """Reports that there was nothing to sort."""
    return StageReport(
        StageOutcome.SKIPPED, reason="NO_CANDIDATES", detail="there was no candidate to sort"
    )


def not_sorted(failures: Sequence[ServiceError]) -> StageReport:
    """Reports that the fused order stays: after failures, or since there is nothing to sort by."""
    if failures:
        return StageReport(
            StageOutcome.DEGRADED,
            reason=failures[0].reason,
            detail=f"{_told(failures)}; the fused order stays",
        )
    return StageReport(
        StageOutcome.SKIPPED,
        reason="NO_SCORES",
        detail="no implementation found two candidates to compare, so the fused order stays",
    )


def _sorted_after(failures: Sequence[ServiceError], report: StageReport) -> StageReport:
    if not failures:
        return report
    return replace(
        report,
        outcome=StageOutcome.DEGRADED,
        reason=failures[0].reason,
        detail=f"{_told(failures)}; sorted by {report.provider} instead",
    )


def _told(failures: Sequence[ServiceError]) -> str:
    return "; ".join(failure.message for failure in failures)


def billed(report: StageReport, bill: Bill, latency_ms: float) -> StageReport:
    """Returns the report with what all models took, those that failed after answering too."""
    return replace(
        report,
        latency_ms=latency_ms,
        input_token_count=bill.input_token_count,
        output_token_count=bill.output_token_count,
        cost=bill.cost,
        currency=bill.currency,
    )
