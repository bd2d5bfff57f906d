"""Embedding a workspace again: what is asked for, and what is told while it goes on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, and the ids of documents that answer it."""

    query: str
    external_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SwitchGate:
    """What the new space must show before a switch.

    The first `hit_count` hits of an answer count. `min_overlap` is the smallest mean share of hits
    that both spaces find, `max_hit_loss` the largest loss of the share of questions that are
    answered; both 0 to 1.
    """

    questions: tuple[LabelledQuestion, ...]
    hit_count: int = 8
    min_overlap: float = 0.0
    max_hit_loss: float = 0.0


@dataclass(frozen=True, slots=True)
class ReembeddingRequest:
    """Asks for a workspace to be embedded into another space.

    `target` is a space id, the name of a provider, or empty for the first provider that answers.
    """

    workspace: str
    target: str = ""
    dry_run: bool = False
    keep_preferred: bool = False
    gate: SwitchGate | None = None


@dataclass(frozen=True, slots=True)
class ReembeddingPlan:
    """What will be done; `cost_estimate` is None where the price is unknown."""

    preferred_space_id: str
    space_id: str
    provider: str
    model: str
    passage_count: int
    awaiting_passage_count: int
    token_estimate: int
    cost_estimate: float | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class ReembeddingProgress:
    """What is done so far: passages of the space, and what this call took."""

    done_passage_count: int
    passage_count: int
    refused_passage_count: int = 0
    input_token_count: int = 0
    cost: float | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """How the spaces compare; `detail` says why a switch is not allowed, empty if it is."""

    question_count: int
    hit_count: int
    overlap: float
    old_hit_rate: float
    new_hit_rate: float
    detail: str = ""

    @property
    def passed(self) -> bool:
        """The switch is allowed."""
        return not self.detail


@dataclass(frozen=True, slots=True)
class ReembeddingOutcome:
    """How it ended; `detail` says why nothing was switched, empty if something was."""

    switched: bool
    previous_space_id: str
    preferred_space_id: str
    refused_passage_count: int = 0
    detail: str = ""


ReembeddingEvent: TypeAlias = (
    ReembeddingPlan | ReembeddingProgress | GateVerdict | ReembeddingOutcome
)


class Reembedding(Protocol):
    """Embeds workspaces again."""

    def reembed(self, request: ReembeddingRequest) -> AsyncGenerator[ReembeddingEvent, None]:
        """Tells the plan, progress after each batch, the verdict of the gate, and the outcome.

        Closing the generator ends the work; what was embedded stays, and the same request again
        goes on from there.
        """
        ...
