"""Stage reports of the called services; their contracts hold copies with equal fields."""

from __future__ import annotations

from gateway.receipt import StageOutcome, StageReport
from justesse.embedder.v1 import embedder_pb2
from justesse.reranker.v1 import reranker_pb2
from justesse.retriever.v1 import search_pb2
from justesse.rewriter.v1 import rewriter_pb2

AnyStageReport = (
    embedder_pb2.StageReport
    | rewriter_pb2.StageReport
    | search_pb2.StageReport
    | reranker_pb2.StageReport
)

_OUTCOMES = {
    1: StageOutcome.RAN,
    2: StageOutcome.SWITCHED_OFF,
    3: StageOutcome.SKIPPED,
    4: StageOutcome.DEGRADED,
}


def stage_report_from(stage: str, message: AnyStageReport) -> StageReport:
    """Reads a report and names its stage; an outcome this build does not know counts as ran."""
    return StageReport(
        stage=stage,
        outcome=_OUTCOMES.get(message.outcome, StageOutcome.RAN),
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
