"""Spaces of workspaces in JSON."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gateway.http.models.values import FiniteNumber, RequestBody
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


class LabelledQuestionBody(RequestBody):
    """A question, and the ids of documents that answer it."""

    query: str
    external_ids: list[str]


class SwitchGateBody(RequestBody):
    """What the new space must show before the switch."""

    questions: list[LabelledQuestionBody] = Field(description="1 to 1,000")
    hit_count: int = Field(default=8, strict=True, description="hits that count, 1 to 100")
    min_overlap: FiniteNumber = Field(
        default=0.0, description="smallest mean share of hits that both spaces find, 0 to 1"
    )
    max_hit_loss: FiniteNumber = Field(
        default=0.0, description="largest loss of the share of answered questions, 0 to 1"
    )


class ReembeddingBody(RequestBody):
    """How a workspace is to be embedded again."""

    space_id: str = Field(
        default="",
        description="a space or the name of its provider; empty: the first that answers",
    )
    dry_run: bool = Field(default=False, description="answer with the plan only")
    keep_preferred: bool = Field(default=False, description="embed everything, switch nothing")
    gate: SwitchGateBody | None = None

    def request(self, workspace: str) -> ReembeddingRequest:
        """Returns the request of a workspace."""
        return ReembeddingRequest(
            workspace,
            self.space_id,
            self.dry_run,
            self.keep_preferred,
            None if self.gate is None else _gate_of(self.gate),
        )


class SwitchSpaceBody(RequestBody):
    """The space that is to be the preferred one."""

    space_id: str
    require_complete: bool = Field(
        default=False, description="refuse while a passage has no vector in it"
    )


class SpaceSwitchBody(BaseModel):
    """What was switched."""

    previous_space_id: str
    awaiting_passage_count: int


class SpaceDropBody(BaseModel):
    """What was dropped."""

    vector_count: int


class ReembeddingPlanBody(BaseModel):
    """What will be done; no `cost_estimate` where the price is unknown."""

    preferred_space_id: str
    space_id: str
    provider: str
    model: str
    passage_count: int
    awaiting_passage_count: int
    token_estimate: int
    cost_estimate: float | None = None
    currency: str


class ReembeddingProgressBody(BaseModel):
    """What is done so far; no `cost` where the price is unknown."""

    done_passage_count: int
    passage_count: int
    refused_passage_count: int
    input_token_count: int
    cost: float | None = None
    currency: str


class GateVerdictBody(BaseModel):
    """How the spaces compare."""

    passed: bool
    question_count: int
    hit_count: int
    overlap: float
    old_hit_rate: float
    new_hit_rate: float
    detail: str


class ReembeddingOutcomeBody(BaseModel):
    """How it ended."""

    switched: bool
    previous_space_id: str
    preferred_space_id: str
    refused_passage_count: int
    detail: str


_BODIES: dict[type[ReembeddingEvent], tuple[str, type[BaseModel]]] = {
    ReembeddingPlan: ("plan", ReembeddingPlanBody),
    ReembeddingProgress: ("progress", ReembeddingProgressBody),
    GateVerdict: ("verdict", GateVerdictBody),
    ReembeddingOutcome: ("outcome", ReembeddingOutcomeBody),
}


def to_event(event: ReembeddingEvent) -> tuple[str, BaseModel]:
    """Returns the name of an event and its body."""
    name, body = _BODIES[type(event)]
    return name, body.model_validate(event, from_attributes=True)


def _gate_of(body: SwitchGateBody) -> SwitchGate:
    return SwitchGate(
        tuple(LabelledQuestion(one.query, tuple(one.external_ids)) for one in body.questions),
        body.hit_count,
        body.min_overlap,
        body.max_hit_loss,
    )
