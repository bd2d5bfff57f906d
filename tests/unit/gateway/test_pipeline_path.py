"""The path of a question when every service answers."""

from __future__ import annotations

import asyncio

import pytest

from chassis.errors import NotFound
from gateway.embedding import EmbeddingPurpose
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.searching import SearchMode
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.bench import Bench, ids
from tests.fakes.gateway_services.models import FakeRewriter
from tests.fakes.gateway_services.spaces import OTHER_SPACE, SPACE


async def test_hits_come_in_the_rerankers_order_with_every_stages_rank() -> None:
    """The reranked order decides; fused rank, list places and rerank rank stand on each hit."""
    bench = Bench()

    retrieval = await bench.ask()

    assert ids(retrieval) == ["p3", "p2", "p1"]
    first = retrieval.hits[0]
    assert (first.rank, first.fused.fused_rank, first.rerank_rank) == (1, 3, 1)
    assert first.rerank_score == pytest.approx(1.0)
    assert [(place.list_name, place.query_index, place.rank) for place in first.list_places] == [
        ("bm25", 0, 3),
        (SPACE.space_id, 0, 3),
    ]


async def test_every_stage_reports_in_pipeline_order() -> None:
    """Reports come as rewrite, embed, search, rerank, whatever ended first."""
    bench = Bench()

    await bench.ask()

    assert list(bench.outcomes().items()) == [
        ("rewrite", "SKIPPED"),
        ("embed", "RAN"),
        ("search", "RAN"),
        ("rerank", "RAN"),
    ]


async def test_rewriting_and_embedding_run_side_by_side() -> None:
    """Each of the two starts while the other is still under way."""
    bench = Bench()
    both = asyncio.Barrier(2)
    bench.rewriter.behaviour.barrier = both
    bench.embedder.behaviour.barrier = both

    await bench.ask()

    assert bench.outcomes()["embed"] == "RAN"


async def test_a_rewritten_query_is_a_second_variant_with_its_own_vector() -> None:
    """The original stays the first variant, and both are embedded."""
    bench = Bench(FakeRewriter(rewritten="retard livraison port Marseille"))

    retrieval = await bench.ask("retards ?")

    variants = bench.retriever.searches[0].variants
    assert retrieval.wordings.texts == ("retards ?", "retard livraison port Marseille")
    assert tuple(variant.text for variant in variants) == retrieval.wordings.texts
    assert [[query.space_id for query in variant.vectors] for variant in variants] == [
        [SPACE.space_id],
        [SPACE.space_id],
    ]
    assert bench.outcomes()["rewrite"] == "RAN"


async def test_an_unchanged_query_is_embedded_and_searched_once() -> None:
    """A rewriter that changes nothing adds no variant and no call."""
    bench = Bench(FakeRewriter(rewritten="retards ?"))

    await bench.ask("retards ?")

    assert len(bench.retriever.searches[0].variants) == 1
    assert bench.embedder.embedded() == [("retards ?", SPACE.space_id)]


async def test_queries_are_embedded_as_queries_of_their_workspace() -> None:
    """Purpose and workspace reach the embedder."""
    bench = Bench()

    await bench.ask("retards ?")

    assert bench.embedder.calls == [
        (("retards ?",), EmbeddingPurpose.QUERY, SPACE.space_id, "negoce")
    ]


async def test_a_query_is_embedded_once_for_each_space_that_holds_passages() -> None:
    """Each space gets a vector of its own width; an empty space gets none."""
    bench = Bench()
    empty = type(SPACE)("empty/model@1/4/l2/none", 4, 0)
    bench.retriever.add_workspace("negoce", (SPACE, OTHER_SPACE, empty))

    await bench.ask()

    vectors = bench.retriever.searches[0].variants[0].vectors
    assert {query.space_id: query.vector.shape for query in vectors} == {
        SPACE.space_id: (4,),
        OTHER_SPACE.space_id: (8,),
    }


async def test_an_equal_question_is_not_embedded_again() -> None:
    """The second time the vector comes from the cache, and the receipt says so."""
    bench = Bench()

    await bench.ask("retards ?")
    await bench.ask("retards ?")

    assert len(bench.embedder.calls) == 1
    assert bench.outcomes()["embed"] == "RAN"
    assert "cache" in bench.reports["embed"].detail
    assert bench.reports["embed"].provider == ""


async def test_a_workspace_is_described_once() -> None:
    """Its spaces are remembered from the first question on."""
    bench = Bench()

    await bench.ask("un")
    await bench.ask("deux")

    assert bench.retriever.described == ["negoce"]
    assert [search.spaces_version for search in bench.retriever.searches] == [1, 1]


async def test_an_unknown_workspace_is_not_found_before_any_model_is_called() -> None:
    """NOT_FOUND costs neither a rewriting nor an embedding."""
    bench = Bench()
    bench.retriever.workspaces.clear()

    with pytest.raises(NotFound, match="negoce"):
        await bench.ask()

    assert not bench.rewriter.calls
    assert not bench.embedder.calls


async def test_history_reaches_the_rewriter_and_the_standalone_question_the_reranker() -> None:
    """A follow-up is reranked by what it means, not by its words."""
    bench = Bench(FakeRewriter(rewritten="retards juin", standalone="Et les retards en juin ?"))
    turn = ConversationTurn(ConversationRole.USER, "Parle-moi des retards.")

    await bench.ask("et en juin ?", history=(turn,))

    assert bench.rewriter.calls == [("et en juin ?", "fr", (turn,))]
    assert bench.reranker.calls[0][0] == "Et les retards en juin ?"


async def test_an_automatic_language_is_left_to_the_rewriter() -> None:
    """A workspace of language "auto" says nothing about the language of one query."""
    bench = Bench()
    bench.retriever.add_workspace("negoce", language="auto")

    await bench.ask("retards ?")

    assert bench.rewriter.calls == [("retards ?", "", ())]


async def test_candidate_counts_are_those_of_the_switches() -> None:
    """List length and the reranking model's share follow their switches."""
    bench = Bench(switches=SwitchValues(hybrid_candidate_count=33, rerank_candidate_count=7))

    await bench.ask()

    assert bench.retriever.searches[0].candidate_count == 33
    assert bench.reranker.calls[0][2] == 7


async def test_the_limit_cuts_after_reranking() -> None:
    """The passage that fusion put last can lead an answer of one hit."""
    bench = Bench()

    retrieval = await bench.ask(limit=1)

    assert ids(retrieval) == ["p3"]
    assert len(bench.reranker.calls[0][1]) == 3
    assert bench.retriever.searches[0].mode is SearchMode.HYBRID


async def test_candidates_carry_title_text_and_scores() -> None:
    """The reranker sees what it may judge by."""
    bench = Bench()

    await bench.ask()

    candidate = bench.reranker.calls[0][1][0]
    assert (candidate.passage_id, candidate.title) == ("p1", "Titre")
    assert candidate.text == "Texte de p1."
    assert candidate.space_scores[0].cosine == pytest.approx(0.75)
    assert candidate.bm25_score == pytest.approx(3.5)


async def test_only_candidates_that_a_model_may_read_carry_their_text() -> None:
    """Beyond the switch's count, candidates travel with their scores alone."""
    bench = Bench(switches=SwitchValues(rerank_candidate_count=2))

    await bench.ask()

    assert [bool(candidate.text) for candidate in bench.reranker.calls[0][1]] == [True, True, False]


async def test_with_hybrid_search_off_words_do_not_sort_either() -> None:
    """Dense only means that the reranker is given no BM25 scores."""
    bench = Bench(switches=SwitchValues(hybrid_search_enabled=False))

    await bench.ask()

    assert {candidate.bm25_score for candidate in bench.reranker.calls[0][1]} == {None}
    assert all(candidate.space_scores for candidate in bench.reranker.calls[0][1])


async def test_an_empty_search_is_not_reranked() -> None:
    """Without candidates the reranker is not called and the receipt says why."""
    bench = Bench()
    bench.retriever.found = []

    retrieval = await bench.ask()

    assert retrieval.hits == ()
    assert not bench.reranker.calls
    assert bench.reports["rerank"].reason == "NO_CANDIDATES"
    assert bench.outcomes()["rerank"] == "SKIPPED"


async def test_a_workspace_without_vectors_is_not_embedded_for() -> None:
    """Before the first vector the embedder is not called: BM25 answers."""
    bench = Bench()
    bench.retriever.add_workspace("negoce", ())

    retrieval = await bench.ask()

    assert not bench.embedder.calls
    assert bench.outcomes()["embed"] == "SKIPPED"
    assert bench.reports["embed"].reason == "NO_SPACES"
    assert len(retrieval.hits) == 3
