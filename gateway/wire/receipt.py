"""Receipts to messages of the gateway."""

from __future__ import annotations

from gateway.receipt import Receipt, StageOutcome, StageReport
from justesse.gateway.v1 import search_pb2

_OUTCOMES = {
    StageOutcome.RAN: search_pb2.STAGE_OUTCOME_RAN,
    StageOutcome.SWITCHED_OFF: search_pb2.STAGE_OUTCOME_SWITCHED_OFF,
    StageOutcome.SKIPPED: search_pb2.STAGE_OUTCOME_SKIPPED,
    StageOutcome.DEGRADED: search_pb2.STAGE_OUTCOME_DEGRADED,
}


def to_receipt(receipt: Receipt) -> search_pb2.Receipt:
    """Writes a receipt."""
    return search_pb2.Receipt(
        request_id=receipt.request_id,
        stages=map(_to_stage_report, receipt.stages),
        latency_ms=receipt.latency_ms,
        costs=[
            search_pb2.Cost(amount=cost.amount, currency=cost.currency) for cost in receipt.costs
        ],
        degraded=receipt.degraded,
        variant=receipt.variant,
    )


def _to_stage_report(report: StageReport) -> search_pb2.StageReport:
    return search_pb2.StageReport(
        stage=report.stage,
        outcome=_OUTCOMES[report.outcome],
        reason=report.reason,
        detail=report.detail,
        provider=report.provider,
        model=report.model,
        latency_ms=report.latency_ms,
        input_token_count=report.input_token_count,
        output_token_count=report.output_token_count,
        cost=report.cost,
        currency=report.currency,
    )
