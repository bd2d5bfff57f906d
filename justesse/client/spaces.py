"""Moving a workspace to another embedding model: what is asked for, and what is told meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from justesse.gateway.v1 import spaces_pb2


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, and the ids of documents that answer it."""

    query: str
    external_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class SwitchGate:
    """What the new space must show before the switch."""

    questions: Sequence[LabelledQuestion]
    """1 to 1,000."""
    hit_count: int = 8
    """Hits of an answer that count, 1 to 100."""
    min_overlap: float = 0.0
    """Smallest mean share of hits that both spaces find, 0 to 1."""
    max_hit_loss: float = 0.0
    """Largest loss of the share of questions whose documents are found, 0 to 1."""


@dataclass(frozen=True, slots=True)
class ReembeddingPlan:
    """What will be done, and what it will take."""

    preferred_space_id: str
    space_id: str
    provider: str
    model: str
    passage_count: int
    awaiting_passage_count: int
    """Passages that the space lacks."""
    token_estimate: int
    cost_estimate: float | None
    """None where the price is unknown."""
    currency: str


@dataclass(frozen=True, slots=True)
class ReembeddingProgress:
    """What is done so far, and what this call has taken."""

    done_passage_count: int
    passage_count: int
    refused_passage_count: int
    """Passages that the model cannot embed; they stay findable where they are."""
    input_token_count: int
    cost: float | None
    """None where the price is unknown."""
    currency: str


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """How the present space and the new one compare."""

    passed: bool
    question_count: int
    hit_count: int
    overlap: float
    """Mean share of hits that both find, 0 to 1."""
    old_hit_rate: float
    new_hit_rate: float
    detail: str
    """Why the switch is not allowed; empty if it is."""


@dataclass(frozen=True, slots=True)
class ReembeddingOutcome:
    """How it ended."""

    switched: bool
    previous_space_id: str
    """Switch to it to undo."""
    preferred_space_id: str
    refused_passage_count: int
    detail: str
    """Why nothing was switched; empty if something was."""


ReembeddingEvent: TypeAlias = (
    ReembeddingPlan | ReembeddingProgress | GateVerdict | ReembeddingOutcome
)


@dataclass(frozen=True, slots=True)
class SpaceSwitch:
    """What was switched."""

    previous_space_id: str
    awaiting_passage_count: int
    """Passages that the new preferred space lacks; they are found where they are, and moved."""


@dataclass(frozen=True, slots=True)
class DroppedSpace:
    """What went with a space."""

    vector_count: int
    """0 where there was no such space."""


def reembedding_message(
    workspace: str, space_id: str, dry_run: bool, keep_preferred: bool, gate: SwitchGate | None
) -> spaces_pb2.ReembedWorkspaceRequest:
    """Encodes what is asked for."""
    return spaces_pb2.ReembedWorkspaceRequest(
        workspace=workspace,
        space_id=space_id,
        dry_run=dry_run,
        keep_preferred=keep_preferred,
        gate=None
        if gate is None
        else spaces_pb2.SwitchGate(
            questions=[
                spaces_pb2.LabelledQuestion(query=one.query, external_ids=one.external_ids)
                for one in gate.questions
            ],
            hit_count=gate.hit_count,
            min_overlap=gate.min_overlap,
            max_hit_loss=gate.max_hit_loss,
        ),
    )


def reembedding_event_from(
    message: spaces_pb2.ReembedWorkspaceResponse,
) -> ReembeddingEvent | None:
    """Decodes one event; None for a kind that this client does not know."""
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


def _progress_from(message: spaces_pb2.ReembeddingProgress) -> ReembeddingProgress:
    return ReembeddingProgress(
        message.done_passage_count,
        message.passage_count,
        message.refused_passage_count,
        message.input_token_count,
        message.cost if message.HasField("cost") else None,
        message.currency,
    )


def _verdict_from(message: spaces_pb2.GateVerdict) -> GateVerdict:
    return GateVerdict(
        message.passed,
        message.question_count,
        message.hit_count,
        message.overlap,
        message.old_hit_rate,
        message.new_hit_rate,
        message.detail,
    )


def _outcome_from(message: spaces_pb2.ReembeddingOutcome) -> ReembeddingOutcome:
    return ReembeddingOutcome(
        message.switched,
        message.previous_space_id,
        message.preferred_space_id,
        message.refused_passage_count,
        message.detail,
    )
