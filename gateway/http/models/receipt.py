"""Receipts in JSON."""

from __future__ import annotations

from pydantic import BaseModel

from gateway.receipt import Receipt


class StageReportBody(BaseModel):
    """What a stage did; `outcome` is RAN, SWITCHED_OFF, SKIPPED or DEGRADED."""

    stage: str
    outcome: str
    reason: str
    detail: str
    provider: str
    model: str
    latency_ms: float
    input_token_count: int
    output_token_count: int
    cost: float | None = None
    currency: str


class CostBody(BaseModel):
    """An amount of money; `currency` is its ISO 4217 code."""

    amount: float
    currency: str


class ReceiptBody(BaseModel):
    """What an answer cost and how it came about.

    `variant` says what rollouts of switches made of the query; empty where none is on.
    """

    request_id: str
    stages: list[StageReportBody]
    latency_ms: float
    costs: list[CostBody]
    degraded: bool
    variant: str


def to_receipt_body(receipt: Receipt) -> ReceiptBody:
    """Writes a receipt."""
    return ReceiptBody(
        request_id=receipt.request_id,
        stages=[
            StageReportBody(
                stage=report.stage,
                outcome=report.outcome.name,
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
            for report in receipt.stages
        ],
        latency_ms=receipt.latency_ms,
        costs=[CostBody(amount=cost.amount, currency=cost.currency) for cost in receipt.costs],
        degraded=receipt.degraded,
        variant=receipt.variant,
    )
