"""Explanations over fakes: order of the steps, losses, and what is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from chassis.deadline import narrowed_deadline
from chassis.errors import DeadlineExceeded, NotFound, Unavailable
from gateway.explanations import (
    Expectation,
    ExpectationOutcome,
    PassageStandings,
    SearchExplanation,
)
from gateway.questions import Question
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.models import FakeRewriter
from tests.fakes.gateway_services.spaces import SPACE
from tests.fakes.gateway_services.standings import standings

QUESTION = Question("negoce", "retards à Marseille")


async def explained(
    mesh: MeshOfFakes,
    *passages: PassageStandings,
    question: Question = QUESTION,
    chunk_index: int | None = None,
) -> SearchExplanation:
    """Explains a question for document a.md, of which the retriever says this."""
    mesh.retriever.standings["a.md"] = passages
    expected = Expectation("a.md", chunk_index)
    return await mesh.application().explanations.explain(question, expected)


async def test_the_search_is_run_once_and_explained_as_it_was_asked(mesh: MeshOfFakes) -> None:
    """One search, and an explanation of exactly that search; the reranker moved the passage."""
    mesh.rewriter = FakeRewriter(rewritten="retard port Marseille")
    explanation = await explained(mesh, standings("p1", fused_rank=1))

    assert mesh.retriever.explained == [(mesh.retriever.searches[0], "a.md")]
    (passage,) = explanation.passages
    assert (passage.outcome, passage.rank) == (ExpectationOutcome.RETURNED, 3)
    assert passage.detail == "returned; place 3 of 3"
    assert passage.rerank is not None
    assert (passage.rerank.rank_before, passage.rerank.rank_after) == (1, 3)
    assert passage.rerank.formula_parts is not None
    assert explanation.wordings.texts == ("retards à Marseille", "retard port Marseille")
    assert [made.list_name for made in explanation.lists] == ["bm25", SPACE.space_id] * 2
    assert (explanation.list_length, explanation.candidate_count) == (20, 3)
    assert [report.stage for report in explanation.receipt.stages] == [
        "rewrite",
        "embed",
        "search",
        "rerank",
    ]


@pytest.mark.parametrize(
    ("said", "outcome", "words"),
    [
        (ExpectationOutcome.FILTERED_OUT, ExpectationOutcome.FILTERED_OUT, "in words"),
        (ExpectationOutcome.UNDER_THRESHOLD, ExpectationOutcome.UNDER_THRESHOLD, "in words"),
        (
            ExpectationOutcome.OVER_DOCUMENT_BOUND,
            ExpectationOutcome.OVER_DOCUMENT_BOUND,
            "in words",
        ),
        (
            ExpectationOutcome.IN_NO_LIST,
            ExpectationOutcome.IN_NO_LIST,
            "in words; its best place is 34, in bm25; it has no vector in a space that was "
            "searched",
        ),
        (
            ExpectationOutcome.OVER_LIMIT,
            ExpectationOutcome.OVER_CANDIDATE_WINDOW,
            "place 240 after fusion; 200 better ones fill the window of candidates",
        ),
        (
            ExpectationOutcome.RETURNED,
            ExpectationOutcome.CHANGED,
            "its document changed between the search and its explanation; ask again",
        ),
    ],
)
async def test_a_passage_that_was_lost_has_one_reason(
    mesh: MeshOfFakes, said: ExpectationOutcome, outcome: ExpectationOutcome, words: str
) -> None:
    """No place and no reranking, but the cut that removed it."""
    (passage,) = (await explained(mesh, standings("lost", said, fused_rank=240))).passages

    assert (passage.outcome, passage.detail) == (outcome, words)
    assert (passage.rank, passage.rerank) == (None, None)


async def test_passages_come_by_place(mesh: MeshOfFakes) -> None:
    """The final order leads; those without a place follow as the retriever has them."""
    explanation = await explained(
        mesh,
        standings("p1", chunk_index=0, fused_rank=1),
        standings("p3", chunk_index=1, fused_rank=3),
        standings("lost", ExpectationOutcome.UNDER_THRESHOLD, chunk_index=2, fused_rank=2),
        standings("gone", ExpectationOutcome.IN_NO_LIST, chunk_index=3),
        question=replace(QUESTION, limit=1),
    )

    assert [(one.retrieval.passage_id, one.rank) for one in explanation.passages] == [
        ("p3", 1),
        ("p1", 3),
        ("lost", None),
        ("gone", None),
    ]
    assert explanation.passages[1].outcome is ExpectationOutcome.OVER_LIMIT
    assert explanation.passages[1].detail == "place 3 in the final order; the limit is 1"


async def test_what_is_not_there_costs_nothing(mesh: MeshOfFakes) -> None:
    """An unknown document, and a position beyond its passages, are found before any model runs."""
    explanations = mesh.application().explanations
    for expected, words in (
        (Expectation("none.md"), "there is no document 'none.md'"),
        (Expectation("a.md", 2), "document 'a.md' has no passage 2: it holds 2, counted from 0"),
    ):
        with pytest.raises(NotFound) as refused:
            await explanations.explain(QUESTION, expected)
        assert refused.value.message == words
    assert not mesh.rewriter.calls
    assert not mesh.embedder.calls
    assert not mesh.retriever.searches


async def test_a_passage_that_goes_meanwhile_is_not_found(mesh: MeshOfFakes) -> None:
    """The document was cut shorter between the two steps."""
    with pytest.raises(NotFound, match=r"has no passage 1: it holds 1, counted from 0"):
        await explained(mesh, standings("p1", fused_rank=1), chunk_index=1)


async def test_other_states_of_the_store_are_told(mesh: MeshOfFakes) -> None:
    """The search saw one change, the explanation another."""
    assert not (await explained(mesh, standings("p1", fused_rank=1))).documents_changed
    mesh.retriever.explained_seq = 7
    assert (await explained(mesh, standings("p1", fused_rank=1))).documents_changed


async def test_losses_are_those_of_a_search(mesh: MeshOfFakes) -> None:
    """Without rewriter, embedder and reranker: fused order, no vectors, and a degraded receipt."""
    for part in (mesh.rewriter, mesh.embedder, mesh.reranker):
        part.behaviour.error = Unavailable("does not answer")
    explanation = await explained(
        mesh,
        standings("p2", fused_rank=2),
        standings("x", ExpectationOutcome.IN_NO_LIST, places=()),
    )

    kept, lost = explanation.passages
    assert (kept.outcome, kept.rank, kept.rerank) == (ExpectationOutcome.RETURNED, 2, None)
    assert lost.detail == "in words; no vectors were searched; it shares no term with the wordings"
    assert [report.outcome.name for report in explanation.receipt.stages] == [
        "DEGRADED",
        "DEGRADED",
        "RAN",
        "DEGRADED",
    ]


async def test_switches_are_obeyed(mesh: MeshOfFakes) -> None:
    """What is off is not called, and the passage stands in fused order."""
    for key in ("rag_query_rewrite_enabled", "rag_reranking_enabled", "rag_hybrid_search_enabled"):
        await mesh.switches.board.set(key, "false")
    explanation = await explained(mesh, standings("p2", fused_rank=2))

    assert not mesh.rewriter.calls
    assert not mesh.reranker.calls
    assert [made.list_name for made in explanation.lists] == [SPACE.space_id]
    assert (explanation.passages[0].rank, explanation.passages[0].rerank) == (2, None)


@pytest.mark.parametrize(
    ("error", "expected"),
    [(Unavailable("the retriever cannot be reached"), Unavailable), (KeyError("bug"), KeyError)],
)
async def test_without_the_retriever_there_is_no_explanation(
    mesh: MeshOfFakes, error: Exception, expected: type[Exception]
) -> None:
    """Its loss is the caller's error; a bug stays a bug."""
    mesh.retriever.behaviour.error = error
    with pytest.raises(expected):
        await explained(mesh)


async def test_a_deadline_that_is_too_short_ends_the_explanation(mesh: MeshOfFakes) -> None:
    """The retriever is not waited for beyond it."""
    mesh.retriever.behaviour.hangs = True
    with narrowed_deadline(0.05), pytest.raises(DeadlineExceeded, match="stage explain"):
        async with asyncio.timeout(10):
            await explained(mesh)
