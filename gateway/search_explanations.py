"""Explains searches: the search itself, then where it left what was expected of it."""

from __future__ import annotations

from gateway.access.permitted_documents import PermittedDocuments
from gateway.access.permitted_questions import permitted
from gateway.documents import StoredDocument
from gateway.explained_passages import explained_passages, no_such_passage
from gateway.explanations import (
    DocumentStandings,
    Expectation,
    SearchedList,
    SearchExplanation,
)
from gateway.pipeline import Retrieval
from gateway.ports import Retriever
from gateway.questions import Question
from gateway.searches import Searches, SearchRun
from gateway.validation import check_expectation, check_question

DEFAULT_DEADLINE_S = 30.0


class SearchExplanations:
    """Explains what searches do with expected passages."""

    def __init__(self, searches: Searches, retriever: Retriever) -> None:
        self._searches = searches
        self._retriever = retriever
        self._documents = PermittedDocuments(retriever)

    async def explain(self, question: Question, expected: Expectation) -> SearchExplanation:
        """Explains within the caller's deadline, or 30 s where it gave none.

        Raises as `Searches.search` does, and NotFound where there is no such document or passage.
        """
        question = permitted(question)
        check_question(question)
        check_expectation(expected)
        async with self._searches.admission.place_for(question.workspace):
            run = self._searches.begin(question, DEFAULT_DEADLINE_S)
            document = await self._expected_document(run, question, expected)
            retrieval = await run.find_passages(include_formula_parts=True)
            standings = await self._standings(run, retrieval, expected)
        return SearchExplanation(
            question=retrieval.question,
            document=document,
            passages=explained_passages(retrieval, standings, expected, retrieval.question),
            wordings=retrieval.wordings,
            lists=tuple(
                SearchedList(made.name, made.variant_index, made.hit_count, made.exact)
                for made in retrieval.fused.lists
            ),
            list_length=retrieval.search.candidate_count,
            candidate_count=len(retrieval.fused.hits),
            documents_changed=standings.applied_seq != retrieval.fused.applied_seq,
            receipt=run.receipt(),
        )

    async def _expected_document(
        self, run: SearchRun, question: Question, expected: Expectation
    ) -> StoredDocument:
        """Reads the document first: for one that is not there, no model is paid."""
        document = await run.stages.required(
            "explain",
            lambda timeout: self._documents.read(
                question.workspace, expected.external_id, timeout=timeout
            ),
            share=0.5,
        )
        if expected.chunk_index is not None and expected.chunk_index >= document.passage_count:
            raise no_such_passage(expected, document.passage_count)
        return document

    async def _standings(
        self, run: SearchRun, retrieval: Retrieval, expected: Expectation
    ) -> DocumentStandings:
        return await run.stages.required(
            "explain",
            lambda timeout: self._retriever.explain_passages(
                retrieval.search, expected.external_id, timeout=timeout
            ),
            share=0.9,
        )
