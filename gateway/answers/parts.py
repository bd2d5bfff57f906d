"""What answers are made with."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.answers.checking.checked_answer import UnsupportedPolicy
from gateway.answers.evidence.decision import Strictness
from gateway.answers.model_attempt import AnswerModels
from gateway.searches import Searches


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """The searches that find passages, the chat models (None: sources are quoted), what becomes of
    sentences that their sources do not bear out, and how much evidence it takes to answer."""

    searches: Searches
    models: AnswerModels | None = None
    unsupported: UnsupportedPolicy = UnsupportedPolicy.MARK
    strictness: Strictness = Strictness.BALANCED
