"""Explanations against searches, over the retriever and the formula themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chassis.errors import NotFound
from gateway.application import Application
from gateway.explanations import Expectation, ExpectationOutcome, ExplainedPassage
from gateway.filters import Equals, Filter, Threshold
from gateway.questions import FoundPassages, Question
from gateway.receipt import StageOutcome
from tests.fakes.gateway_services.models import FakeEmbedder
from tests.fakes.gateway_services.small_base import DOCUMENTS, SPACE, small_base, vector_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def embedder() -> FakeEmbedder:
    """The embedder of the application."""
    return FakeEmbedder(vector_of=vector_of)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def application(
    tmp_path_factory: pytest.TempPathFactory, embedder: FakeEmbedder
) -> AsyncIterator[Application]:
    """The gateway over a real retriever and reranker."""
    async with small_base(tmp_path_factory.mktemp("explained"), embedder) as application:
        yield application


async def explained_all(
    application: Application, question: Question
) -> dict[str, ExplainedPassage]:
    """Explains a question for every passage of every document, by passage id."""
    explained = {}
    for number in range(DOCUMENTS):
        explanation = await application.explanations.explain(
            question, Expectation(f"{number:02}.md")
        )
        assert not explanation.documents_changed
        for passage in explanation.passages:
            explained[passage.retrieval.passage_id] = passage
    return explained


QUESTIONS = {
    "plain": Question("negoce", "douane du port"),
    "short answer": Question("negoce", "gel des carreaux", limit=2),
    "filter": Question("negoce", "facture de douane", filter=Equals("category", "even")),
    "current": Question("negoce", "navire au quai", filter=Equals("superseded", False)),
    "threshold": Question("negoce", "conteneur", thresholds=(Threshold(SPACE, 0.2),)),
    "one a document": Question("negoce", "livraison au port", passages_per_document=1),
    "no term": Question("negoce", "zzz", limit=100),
}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_the_place_named_is_the_place_in_the_search(
    application: Application, name: str
) -> None:
    """For every passage of the base: returned exactly if the search returns it, at that place.

    What is lost is lost for one reason, and every reason is given where it holds.
    """
    question = QUESTIONS[name]
    found = await application.searches.search(question)
    explained = await explained_all(application, question)

    assert len(explained) == 3 * DOCUMENTS
    returned = {id_: one for id_, one in explained.items() if one.outcome.name == "RETURNED"}
    assert {id_: one.rank for id_, one in returned.items()} == {
        hit.fused.passage_id: hit.rank for hit in found.hits
    }
    for hit in found.hits:
        agrees_with_hit(returned[hit.fused.passage_id], found, hit.rank - 1)
    for one in explained.values():
        is_coherent(one, question)
    assert {one.outcome for one in explained.values()} >= EXPECTED[name]


EXPECTED = {
    "plain": {ExpectationOutcome.OVER_LIMIT, ExpectationOutcome.IN_NO_LIST},
    "short answer": {ExpectationOutcome.OVER_LIMIT},
    "filter": {ExpectationOutcome.FILTERED_OUT},
    "current": {ExpectationOutcome.FILTERED_OUT},
    "threshold": {ExpectationOutcome.UNDER_THRESHOLD},
    "one a document": {ExpectationOutcome.OVER_DOCUMENT_BOUND},
    "no term": {ExpectationOutcome.IN_NO_LIST},
}


def agrees_with_hit(one: ExplainedPassage, found: FoundPassages, at: int) -> None:
    """Every number of the explanation that the hit has too is that of the hit."""
    hit = found.hits[at]
    places = {
        (standing.list_name, standing.query_index): (standing.rank, standing.contribution)
        for standing in one.retrieval.standings
        if standing.contribution
    }
    assert places == {
        (place.list_name, place.query_index): (place.rank, place.contribution)
        for place in hit.list_places
    }
    assert one.retrieval.fused_rank == hit.fused.fused_rank
    assert one.retrieval.fused_score == pytest.approx(hit.fused.fused_score)
    assert one.retrieval.space_scores == hit.fused.space_scores
    assert one.rerank is not None
    assert one.rerank.rank_after == hit.rerank_rank
    # One of them may have travelled, as 32 bits.
    assert (one.rerank.score is None) is (hit.rerank_score is None)
    assert (one.rerank.score or 0.0) == pytest.approx(hit.rerank_score or 0.0, rel=1e-6)


def is_coherent(one: ExplainedPassage, question: Question) -> None:
    """The parts add up, and a place is told exactly for what took part."""
    placed = {ExpectationOutcome.RETURNED, ExpectationOutcome.OVER_LIMIT}
    assert (one.rank is not None) == (one.outcome in placed)
    # The bound is kept in the reranked order.
    reranked = placed | {ExpectationOutcome.OVER_DOCUMENT_BOUND}
    assert (one.rerank is not None) == (one.outcome in reranked)
    if one.outcome is ExpectationOutcome.OVER_LIMIT:
        assert one.rank is not None
        assert one.rank > question.page_length
    shares = [standing.share_of(one.retrieval.fused_score) for standing in one.retrieval.standings]
    assert sum(shares) == pytest.approx(0 if one.retrieval.fused_rank is None else 1, rel=1e-4)
    terms = sum(matched.weight for matched in one.retrieval.matched_terms)
    assert terms == pytest.approx(one.retrieval.bm25_score, rel=1e-3)
    parts = one.rerank and one.rerank.formula_parts
    if parts and one.rerank:
        assert one.rerank.score == pytest.approx(
            parts.similarity_weight * (parts.similarity_share or 0)
            + (1 - parts.similarity_weight) * (parts.lexical_share or 0),
            abs=1e-5,
        )


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Equals("category", "odd"), "the filter wants category 'odd', and the document has 'even'"),
        (
            Equals("superseded", False),
            "the filter wants superseded false, and the document has true",
        ),
    ],
)
async def test_a_filter_is_named_with_both_values(
    application: Application, condition: Filter, words: str
) -> None:
    """What the filter wants and what the document has, in the words of the outcome."""
    question = Question("negoce", "douane", filter=condition)
    explanation = await application.explanations.explain(question, Expectation("00.md", 1))

    (passage,) = explanation.passages
    assert (passage.outcome, passage.detail) == (ExpectationOutcome.FILTERED_OUT, words)


async def test_a_passage_without_vectors_is_told_so(application: Application) -> None:
    """Where it shares no term either, both reasons are given."""
    explained = await explained_all(application, Question("negoce", "zzz"))
    without = [
        one
        for one in explained.values()
        if not one.retrieval.space_scores and one.outcome is ExpectationOutcome.IN_NO_LIST
    ]

    assert without
    for one in without:
        assert "it has no vector in a space that was searched" in one.detail
        shares_a_term = any(place.list_name == "bm25" for place in one.retrieval.standings)
        assert ("it shares no term" in one.detail) is not shares_a_term


@pytest.mark.parametrize(
    "query", ["?!", "\x00", "a\x00b", "é", "\u202e", "x" * 8192, "navire " * 1170, "C++ 3.14"]
)
async def test_odd_questions_are_explained_as_they_are_searched(
    application: Application, query: str
) -> None:
    """Whatever is asked, every place named is that of the search."""
    question = Question("negoce", query, limit=100)
    found = await application.searches.search(question)
    placed = {hit.fused.passage_id: hit.rank for hit in found.hits}
    explanation = await application.explanations.explain(question, Expectation("00.md"))

    assert [one.rank for one in explanation.passages] == [
        placed.get(one.retrieval.passage_id) for one in explanation.passages
    ]


async def test_a_space_that_is_down_is_no_list(
    application: Application, embedder: FakeEmbedder
) -> None:
    """The receipt names it; its passages stand where BM25 has them, as in the search."""
    question = Question("negoce", "facture du port", limit=100)
    embedder.lost_spaces = {SPACE}
    try:
        found = await application.searches.search(question)
        explained = await explained_all(application, question)
        explanation = await application.explanations.explain(question, Expectation("00.md"))
    finally:
        embedder.lost_spaces = set()

    assert {id_: one.rank for id_, one in explained.items() if one.rank is not None} == {
        hit.fused.passage_id: hit.rank for hit in found.hits
    }
    assert SPACE not in {made.list_name for made in explanation.lists}
    embed = next(report for report in explanation.receipt.stages if report.stage == "embed")
    assert (embed.outcome, SPACE in embed.detail) == (StageOutcome.DEGRADED, True)


@pytest.mark.parametrize("key", ["query_rewrite", "hybrid_search", "reranking"])
async def test_with_a_switch_off_the_places_still_agree(application: Application, key: str) -> None:
    """Each switch changes the search; the explanation follows it."""
    question = Question("negoce", "douane du port", limit=100)
    await application.switches.board.set(f"rag_{key}_enabled", "false")
    try:
        found = await application.searches.search(question)
        explained = await explained_all(application, question)
    finally:
        await application.switches.board.set(f"rag_{key}_enabled", "true")

    assert {id_: one.rank for id_, one in explained.items() if one.rank is not None} == {
        hit.fused.passage_id: hit.rank for hit in found.hits
    }
    if key == "reranking":
        assert all(one.rerank is None for one in explained.values())


@pytest.mark.parametrize(
    ("workspace", "external_id", "words"),
    [("autre", "00.md", "'autre'"), ("nulle-part", "00.md", "'nulle-part'")],
)
async def test_documents_of_other_workspaces_do_not_exist(
    application: Application, workspace: str, external_id: str, words: str
) -> None:
    """What another workspace holds is as unknown as what nobody holds."""
    with pytest.raises(NotFound, match=words):
        await application.explanations.explain(
            Question(workspace, "douane"), Expectation(external_id)
        )
