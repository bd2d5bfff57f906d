"""What an answer is made of: the passages found, the context, and whether it is enough."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chassis.deadline import Deadline, narrowed_deadline
from gateway.answers.checking.checked_answer import CheckedAnswer, UnsupportedPolicy, check_answer
from gateway.answers.events import AnswerRefusal
from gateway.answers.evidence.decision import Strictness, decide
from gateway.answers.languages import language_of
from gateway.answers.refusals import RefusalReason
from gateway.context.building import BuiltContext
from gateway.context.of_retrieval import ContextWishes, context_of
from gateway.hits import placed_hits
from gateway.pipeline import Retrieval
from gateway.presets.presets import AnswerRules, preset_named
from gateway.questions import Question
from gateway.searches import DEFAULT_DEADLINE_S, Searches, SearchRun


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question with what answers it; `refusal` says why that is not enough."""

    question: str
    context: BuiltContext
    rules: AnswerRules
    unsupported: UnsupportedPolicy
    refusal: AnswerRefusal | None = None

    def check(self, text: str) -> CheckedAnswer:
        """Returns a text with its citations checked and renumbered, and what was removed."""
        context = self.context
        return check_answer(
            text,
            context.sources,
            context.style,
            context.language,
            self.unsupported,
            question=self.question,
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The passages of a question, and the run that found them."""

    run: SearchRun
    retrieval: Retrieval


async def found_passages(searches: Searches, question: Question, deadline: Deadline) -> Found:
    """Searches within a search's time; raises as `Searches.search` does.

    A place among the queries is held for no longer than that.
    """
    async with searches.admission.place_for(question.workspace):
        with narrowed_deadline(min(DEFAULT_DEADLINE_S, deadline.remaining())):
            run = searches.begin(question, DEFAULT_DEADLINE_S)
            return Found(run, await run.find_passages())


def evidence_of(
    found: Found,
    wishes: ContextWishes,
    unsupported: UnsupportedPolicy,
    strictness: Strictness = Strictness.BALANCED,
) -> Evidence:
    """Builds the context of what was found, and decides whether it is enough.

    The answer is in the language of the question, unless another is wanted; `unsupported` is what
    becomes of sentences that their sources do not bear out, `strictness` how much it takes.
    """
    retrieval = found.retrieval
    usual = retrieval.workspace.language
    language = wishes.language or language_of(retrieval.question.query, usual)
    context = context_of(retrieval, replace(wishes, language=language))
    asked = retrieval.wordings.standalone_question
    refusal = _without_sources(len(retrieval.hits), context)
    if refusal is None:
        refusal = _too_weak(asked, retrieval, strictness)
    rules = preset_named(retrieval.workspace.preset).answer
    return Evidence(asked, context, rules, unsupported, refusal)


def _too_weak(question: str, retrieval: Retrieval, strictness: Strictness) -> AnswerRefusal | None:
    candidates = list(placed_hits(retrieval.fused, retrieval.ranking))
    decision = decide(question, candidates, strictness)
    if decision.is_enough:
        return None
    return AnswerRefusal(RefusalReason.WEAK_EVIDENCE, decision.detail)


def _without_sources(found_count: int, context: BuiltContext) -> AnswerRefusal | None:
    if context.sources:
        return None
    if not found_count:
        return AnswerRefusal(RefusalReason.NO_HITS, "the search found no passage")
    if context.left_out.superseded == found_count:
        return AnswerRefusal(
            RefusalReason.SUPERSEDED_ONLY,
            f"newer versions replace the documents of all passages that were found, {found_count}",
        )
    return AnswerRefusal(
        RefusalReason.OVER_BUDGET,
        f"none of the passages that were found, {found_count}, fits into the budget of tokens",
    )
