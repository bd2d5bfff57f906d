"""The context of what was found, as its workspace's preset and the caller say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chassis.errors import FieldViolation, InvalidArgument
from gateway.context.building import BuiltContext, build_context
from gateway.context.formats import ContextFormat, ContextLanguage
from gateway.context.rules import LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET
from gateway.context.work_instruction import NO_INSTRUCTION, WorkInstruction, check_instruction
from gateway.pipeline import Retrieval
from gateway.presets.presets import preset_named
from text_analysis.language import detect_language


@dataclass(frozen=True, slots=True)
class ContextWishes:
    """What a caller wants of its context; None and 0 leave it to the workspace.

    `instruction` holds no history: that of the question counts.
    """

    style: ContextFormat | None = None
    language: ContextLanguage | None = None
    token_budget: int = 0
    instruction: WorkInstruction = NO_INSTRUCTION


NO_WISHES = ContextWishes()


def check_wishes(wishes: ContextWishes) -> None:
    """Raises InvalidArgument for a budget out of range, or a part that is too long."""
    budget = wishes.token_budget
    if budget and not LEAST_TOKEN_BUDGET <= budget <= MOST_TOKEN_BUDGET:
        words = (
            f"token_budget must be from {LEAST_TOKEN_BUDGET} to {MOST_TOKEN_BUDGET}, or 0 for that "
            f"of the preset, not {budget}"
        )
        raise InvalidArgument(
            words, field="token_budget", violations=(FieldViolation("token_budget", words),)
        )
    check_instruction(wishes.instruction)


def context_of(retrieval: Retrieval, wishes: ContextWishes = NO_WISHES) -> BuiltContext:
    """Builds the context of the question that was searched for.

    A bound of the question on passages of a document counts before that of the preset.
    """
    rules = preset_named(retrieval.workspace.preset).context
    question = retrieval.wordings.standalone_question
    bound = retrieval.question.passages_per_document or rules.passages_per_document
    return build_context(
        question,
        retrieval.hits,
        replace(
            rules,
            style=wishes.style or rules.style,
            token_budget=wishes.token_budget or rules.token_budget,
            passages_per_document=bound,
        ),
        language=wishes.language or _language_of(retrieval.workspace.language, question),
        instruction=replace(wishes.instruction, history=retrieval.question.history),
    )


def _language_of(workspace_language: str, question: str) -> ContextLanguage:
    """Returns the workspace's language, or that of the question where it has none of its own."""
    return ContextLanguage(workspace_language or detect_language(question))
