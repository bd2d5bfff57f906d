"""The receipt of an answer: what every stage did, how long it took and what it cost."""

from dataclasses import dataclass
from enum import StrEnum

from justesse.gateway.v1 import search_pb2


class StageOutcome(StrEnum):
    """How a stage ended."""

    RAN = "ran"
    SWITCHED_OFF = "switched_off"
    SKIPPED = "skipped"
    """Had nothing to do, or is not configured; the answer is not worse than configured."""
    DEGRADED = "degraded"
    """Should have worked and did not; the answer is of lower quality than configured."""
    UNKNOWN = "unknown"
    """An outcome that is newer than this client."""


@dataclass(frozen=True, slots=True)
class StageReport:
    """What a stage did."""

    stage: str
    outcome: StageOutcome
    reason: str
    """UPPER_SNAKE reason when the stage did not simply run; empty otherwise."""
    detail: str
    """The reason in words."""
    provider: str
    model: str
    latency_ms: float
    input_token_count: int
    output_token_count: int
    cost: float | None
    """Price in units of `currency`; None where it is unknown."""
    currency: str


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount of money in units of an ISO 4217 currency."""

    amount: float
    currency: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an answer came about."""

    request_id: str
    stages: tuple[StageReport, ...]
    """In the order of the pipeline: rewrite, embed, search, rerank, parents, answer."""
    latency_ms: float
    """From the door of the gateway to the answer."""
    costs: tuple[Cost, ...]
    degraded: bool
    """At least one stage is degraded."""
    variant: str = ""
    """What rollouts of switches made of the query, or "control"; empty where none is on."""


_OUTCOMES = {
    search_pb2.STAGE_OUTCOME_RAN: StageOutcome.RAN,
    search_pb2.STAGE_OUTCOME_SWITCHED_OFF: StageOutcome.SWITCHED_OFF,
    search_pb2.STAGE_OUTCOME_SKIPPED: StageOutcome.SKIPPED,
    search_pb2.STAGE_OUTCOME_DEGRADED: StageOutcome.DEGRADED,
}


def stage_report_from(message: search_pb2.StageReport) -> StageReport:
    """Decodes the report of a stage."""
    return StageReport(
        stage=message.stage,
        outcome=_OUTCOMES.get(message.outcome, StageOutcome.UNKNOWN),
        reason=message.reason,
        detail=message.detail,
        provider=message.provider,
        model=message.model,
        latency_ms=message.latency_ms,
        input_token_count=message.input_token_count,
        output_token_count=message.output_token_count,
        cost=message.cost if message.HasField("cost") else None,
        currency=message.currency,
    )


def receipt_from(message: search_pb2.Receipt) -> Receipt:
    """Decodes a receipt."""
    return Receipt(
        request_id=message.request_id,
        stages=tuple(stage_report_from(stage) for stage in message.stages),
        latency_ms=message.latency_ms,
        costs=tuple(Cost(cost.amount, cost.currency) for cost in message.costs),
        degraded=message.degraded,
        variant=message.variant,
    )
