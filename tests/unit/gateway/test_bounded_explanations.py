"""Explanations of answers whose passages are bounded or grouped by document."""

from __future__ import annotations

from dataclasses import replace

from gateway.explanations import (
    Expectation,
    ExpectationOutcome,
    PassageStandings,
    SearchExplanation,
)
from gateway.questions import Question
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

QUESTION = Question("negoce", "retards à Marseille")


async def _explained(mesh: MeshOfFakes, *passage_ids: str, question: Question) -> SearchExplanation:
    """Explains a question for document a.md, whose passages the retriever returned."""
    mesh.retriever.standings["a.md"] = tuple(
        PassageStandings(
            passage_id=passage_id,
            chunk_index=chunk_index,
            heading_path=(),
            location="",
            outcome=ExpectationOutcome.RETURNED,
            detail="in words",
            fused_rank=None,
            fused_score=None,
            standings=(),
            matched_terms=(),
            space_scores=(),
            bm25_score=0.0,
        )
        for chunk_index, passage_id in enumerate(passage_ids)
    )
    return await mesh.application().explanations.explain(question, Expectation("a.md"))


async def test_the_bound_of_a_document_is_named_in_the_final_order(mesh: MeshOfFakes) -> None:
    """The reranker put the other passage of its document first; a group stands as one."""
    mesh.retriever.found = ["a-1", "b-1", "a-2"]
    bounded = await _explained(
        mesh,
        "a-1",
        "a-2",
        question=replace(QUESTION, passages_per_document=1),
    )
    grouped = await _explained(
        mesh,
        "a-1",
        "a-2",
        question=replace(QUESTION, group_by_document=True, limit=1),
    )

    assert [(one.retrieval.passage_id, one.outcome, one.rank) for one in bounded.passages] == [
        ("a-2", ExpectationOutcome.RETURNED, 1),
        ("a-1", ExpectationOutcome.OVER_DOCUMENT_BOUND, None),
    ]
    assert "1 better passages of its document" in bounded.passages[1].detail
    assert [(one.outcome, one.rank) for one in grouped.passages] == [
        (ExpectationOutcome.RETURNED, 1),
        (ExpectationOutcome.RETURNED, 2),
    ]
