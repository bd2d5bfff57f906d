"""Requests and events of re-embedding to and from messages of the gateway."""

from __future__ import annotations

from gateway.reembedding import (
    GateVerdict,
    LabelledQuestion,
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    ReembeddingRequest,
    SwitchGate,
)
from justesse.gateway.v1 import spaces_pb2

_DEFAULT_HITS = 8


def reembedding_request_from(message: spaces_pb2.ReembedWorkspaceRequest) -> ReembeddingRequest:
    """Reads what is asked for; its ranges are checked elsewhere."""
    return ReembeddingRequest(
        message.workspace,
        message.space_id,
        message.dry_run,
        message.keep_preferred,
        _gate_from(message.gate) if message.HasField("gate") else None,
    )


def to_reembedding_request(request: ReembeddingRequest) -> spaces_pb2.ReembedWorkspaceRequest:
    """Writes what is asked for."""
    gate = request.gate
    return spaces_pb2.ReembedWorkspaceRequest(
        workspace=request.workspace,
        space_id=request.target,
        dry_run=request.dry_run,
        keep_preferred=request.keep_preferred,
        gate=None if gate is None else _to_gate(gate),
    )


def to_reembedding_response(event: ReembeddingEvent) -> spaces_pb2.ReembedWorkspaceResponse:
    """Writes one event."""
    match event:
        case ReembeddingPlan():
            return spaces_pb2.ReembedWorkspaceResponse(plan=_to_plan(event))
        case ReembeddingProgress():
            return spaces_pb2.ReembedWorkspaceResponse(progress=_to_progress(event))
        case GateVerdict():
            return spaces_pb2.ReembedWorkspaceResponse(verdict=_to_verdict(event))
        case ReembeddingOutcome():
            return spaces_pb2.ReembedWorkspaceResponse(outcome=_to_outcome(event))


def reembedding_event_from(
    message: spaces_pb2.ReembedWorkspaceResponse,
) -> ReembeddingEvent | None:
    """Reads one event; None for a kind that this build does not know."""
    match message.WhichOneof("event"):
        case "plan":
            return _plan_from(message.plan)
        case "progress":
            return _progress_from(message.progress)
        case "verdict":
            return _verdict_from(message.verdict)
        case "outcome":
            return _outcome_from(message.outcome)
    return None


def _gate_from(message: spaces_pb2.SwitchGate) -> SwitchGate:
    return SwitchGate(
        tuple(
            LabelledQuestion(question.query, tuple(question.external_ids))
            for question in message.questions
        ),
        message.hit_count if message.HasField("hit_count") else _DEFAULT_HITS,
        message.min_overlap,
        message.max_hit_loss,
    )


def _to_gate(gate: SwitchGate) -> spaces_pb2.SwitchGate:
    return spaces_pb2.SwitchGate(
        questions=[
            spaces_pb2.LabelledQuestion(query=one.query, external_ids=one.external_ids)
            for one in gate.questions
        ],
        hit_count=gate.hit_count,
        min_overlap=gate.min_overlap,
        max_hit_loss=gate.max_hit_loss,
    )


def _to_plan(plan: ReembeddingPlan) -> spaces_pb2.ReembeddingPlan:
    return spaces_pb2.ReembeddingPlan(
        preferred_space_id=plan.preferred_space_id,
        space_id=plan.space_id,
        provider=plan.provider,
        model=plan.model,
        passage_count=plan.passage_count,
        awaiting_passage_count=plan.awaiting_passage_count,
        token_estimate=plan.token_estimate,
        cost_estimate=plan.cost_estimate,
        currency=plan.currency,
    )


def _plan_from(message: spaces_pb2.ReembeddingPlan) -> ReembeddingPlan:
    return ReembeddingPlan(
        message.preferred_space_id,
        message.space_id,
        message.provider,
        message.model,
        message.passage_count,
        message.awaiting_passage_count,
        message.token_estimate,
        message.cost_estimate if message.HasField("cost_estimate") else None,
        message.currency,
    )


def _to_progress(progress: ReembeddingProgress) -> spaces_pb2.ReembeddingProgress:
    return spaces_pb2.ReembeddingProgress(
        done_passage_count=progress.done_passage_count,
        passage_count=progress.passage_count,
        refused_passage_count=progress.refused_passage_count,
        input_token_count=progress.input_token_count,
        cost=progress.cost,
        currency=progress.currency,
    )


def _progress_from(message: spaces_pb2.ReembeddingProgress) -> ReembeddingProgress:
    return ReembeddingProgress(
        message.done_passage_count,
        message.passage_count,
        message.refused_passage_count,
        message.input_token_count,
        message.cost if message.HasField("cost") else None,
        message.currency,
    )


def _to_verdict(verdict: GateVerdict) -> spaces_pb2.GateVerdict:
    return spaces_pb2.GateVerdict(
        passed=verdict.passed,
        question_count=verdict.question_count,
        hit_count=verdict.hit_count,
        overlap=verdict.overlap,
        old_hit_rate=verdict.old_hit_rate,
        new_hit_rate=verdict.new_hit_rate,
        detail=verdict.detail,
    )


def _verdict_from(message: spaces_pb2.GateVerdict) -> GateVerdict:
    return GateVerdict(
        message.question_count,
        message.hit_count,
        message.overlap,
        message.old_hit_rate,
        message.new_hit_rate,
        message.detail,
    )


def _to_outcome(outcome: ReembeddingOutcome) -> spaces_pb2.ReembeddingOutcome:
    return spaces_pb2.ReembeddingOutcome(
        switched=outcome.switched,
        previous_space_id=outcome.previous_space_id,
        preferred_space_id=outcome.preferred_space_id,
        refused_passage_count=outcome.refused_passage_count,
        detail=outcome.detail,
    )


def _outcome_from(message: spaces_pb2.ReembeddingOutcome) -> ReembeddingOutcome:
    return ReembeddingOutcome(
        message.switched,
        message.previous_space_id,
        message.preferred_space_id,
        message.refused_passage_count,
        message.detail,
    )
