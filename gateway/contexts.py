"""Contexts for callers who ask their own chat model."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.access.permitted_questions import permitted
from gateway.context.building import BuiltContext
from gateway.context.of_retrieval import ContextWishes, check_wishes, context_of
from gateway.questions import Question
from gateway.receipt import Receipt
from gateway.searches import DEFAULT_DEADLINE_S, Searches
from gateway.validation import check_question


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """A context, the wordings that were searched, and what every stage did."""

    context: BuiltContext
    searched_queries: tuple[str, ...]
    receipt: Receipt


class Contexts:
    """Searches, and writes what is found as a block for a prompt."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches

    async def build(self, question: Question, wishes: ContextWishes) -> ContextAnswer:
        """Builds a context within the caller's deadline, or 5 s where it gave none.

        Raises as `Searches.search` does, and InvalidArgument for what `check_wishes` refuses.
        """
        question = permitted(question.as_context())
        check_question(question)
        check_wishes(wishes)
        async with self._searches.admission.place_for(question.workspace):
            run = self._searches.begin(question, DEFAULT_DEADLINE_S)
            retrieval = await run.find_passages()
        context = context_of(retrieval, wishes)
        return ContextAnswer(context, retrieval.wordings.texts, run.receipt())
