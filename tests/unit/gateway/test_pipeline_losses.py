"""What a question gets when services are lost, slow or switched off."""

from __future__ import annotations

import itertools

import pytest

from chassis.errors import DeadlineExceeded, InvalidArgument, ServiceError, Unavailable
from gateway.hits import placed_hits
from gateway.receipt import StageOutcome, StageReport
from gateway.reranking import RankedPassage, Ranking
from gateway.searching import SearchMode
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.behaviour import Behaviour
from tests.fakes.gateway_services.bench import Bench, ids
from tests.fakes.gateway_services.models import FakeRewriter
from tests.fakes.gateway_services.spaces import OTHER_SPACE, SPACE

OPTIONAL = ("rewrite", "embed", "rerank")
FUSED, RERANKED = ["p1", "p2", "p3"], ["p3", "p2", "p1"]


def behaviour_of(bench: Bench, stage: str) -> Behaviour:
    """Returns the behaviour of the service behind a stage."""
    return {
        "rewrite": bench.rewriter.behaviour,
        "embed": bench.embedder.behaviour,
        "search": bench.retriever.behaviour,
        "rerank": bench.reranker.behaviour,
    }[stage]


def combinations() -> list[tuple[str, ...]]:
    """Returns every set of optional stages."""
    sizes = range(len(OPTIONAL) + 1)
    return [lost for size in sizes for lost in itertools.combinations(OPTIONAL, size)]


@pytest.mark.parametrize("lost", combinations(), ids="+".join)
async def test_lost_optional_services_degrade_their_stages_only(lost: tuple[str, ...]) -> None:
    """Any set of lost services leaves an answer, and exactly they are named."""
    bench = Bench(FakeRewriter(rewritten="retard port"))
    for stage in lost:
        behaviour_of(bench, stage).error = Unavailable("gone", reason="GONE")

    retrieval = await bench.ask()

    degraded = [stage for stage, outcome in bench.outcomes().items() if outcome == "DEGRADED"]
    assert degraded == list(lost)
    assert all(bench.reports[stage].reason == "GONE" for stage in lost)
    assert ids(retrieval) == (FUSED if "rerank" in lost else RERANKED)
    assert len(retrieval.wordings.searched) == (1 if "rewrite" in lost else 2)
    vectors = [variant.vectors for variant in bench.retriever.searches[0].variants]
    assert all(bool(each) is ("embed" not in lost) for each in vectors)


@pytest.mark.parametrize("hung", combinations()[1:], ids="+".join)
async def test_hung_optional_services_leave_time_for_the_rest(hung: tuple[str, ...]) -> None:
    """A service that never answers costs its share and no more: the search still answers."""
    bench = Bench(deadline_s=0.4)
    for stage in hung:
        behaviour_of(bench, stage).hangs = True

    retrieval = await bench.ask()

    degraded = [stage for stage, outcome in bench.outcomes().items() if outcome == "DEGRADED"]
    assert degraded == list(hung)
    assert all(bench.reports[stage].reason == "DEADLINE_EXCEEDED" for stage in hung)
    assert sorted(ids(retrieval)) == FUSED


@pytest.mark.parametrize("off", combinations()[1:], ids="+".join)
async def test_a_stage_switched_off_is_not_called(off: tuple[str, ...]) -> None:
    """Off means not called, and the receipt says so; "embed" stands for hybrid search here."""
    bench = Bench(
        switches=SwitchValues(
            query_rewrite_enabled="rewrite" not in off,
            hybrid_search_enabled="embed" not in off,
            reranking_enabled="rerank" not in off,
        )
    )

    retrieval = await bench.ask()

    outcomes = bench.outcomes()
    assert bool(bench.rewriter.calls) is ("rewrite" not in off)
    assert (outcomes["rewrite"] == "SWITCHED_OFF") is ("rewrite" in off)
    assert bool(bench.reranker.calls) is ("rerank" not in off)
    assert (outcomes["rerank"] == "SWITCHED_OFF") is ("rerank" in off)
    mode = bench.retriever.searches[0].mode
    assert mode is (SearchMode.DENSE if "embed" in off else SearchMode.HYBRID)
    assert ("rag_hybrid_search_enabled" in bench.reports["search"].detail) is ("embed" in off)
    assert ids(retrieval) == (FUSED if "rerank" in off else RERANKED)
    assert "DEGRADED" not in outcomes.values()


async def test_fused_order_is_kept_with_no_rerank_rank_when_the_reranker_is_lost() -> None:
    """A value that no stage gave is absent."""
    bench = Bench()
    bench.reranker.behaviour.error = Unavailable("gone")

    retrieval = await bench.ask()

    assert [hit.rank for hit in retrieval.hits] == [1, 2, 3]
    assert all(hit.rerank_rank is None for hit in retrieval.hits)
    assert all(hit.rerank_score is None for hit in retrieval.hits)


@pytest.mark.parametrize(("provider", "places"), [("mistral", [1, 2, 3]), ("", [None] * 3)])
async def test_an_order_without_scores_counts_if_somebody_made_it(
    provider: str, places: list[int | None]
) -> None:
    """A chat model gives none; it may have sorted after another model had failed."""
    retrieval = await Bench().ask()
    assert retrieval.ranking is not None
    unscored = tuple(RankedPassage(each.passage_id) for each in retrieval.ranking.passages)
    report = StageReport("rerank", StageOutcome.DEGRADED, "GONE", provider=provider)

    hits = list(placed_hits(retrieval.fused, Ranking(unscored, report)))

    assert [hit.rerank_rank for hit in hits] == places


@pytest.mark.parametrize(
    "error", [Unavailable("the retriever cannot be reached"), InvalidArgument("bad filter")]
)
async def test_the_search_is_required(error: ServiceError) -> None:
    """An error of the retriever is the caller's, word for word."""
    bench = Bench()
    await bench.ask("so that the workspace is known")
    bench.retriever.behaviour.error = error

    with pytest.raises(type(error), match=error.message):
        await bench.ask()


async def test_a_lost_retriever_is_named_at_the_first_question_too() -> None:
    """Without knowing the workspace nothing can be embedded: the error is the retriever's."""
    bench = Bench()
    bench.retriever.behaviour.error = Unavailable("the retriever cannot be reached")

    with pytest.raises(Unavailable, match="retriever"):
        await bench.ask()

    assert not bench.embedder.calls


async def test_a_hung_retriever_is_a_deadline_exceeded() -> None:
    """The request ends in time, with the stage named."""
    bench = Bench(deadline_s=0.2)
    bench.retriever.behaviour.hangs = True

    with pytest.raises(DeadlineExceeded, match="search"):
        await bench.ask()


@pytest.mark.parametrize("stage", ["rewrite", "embed", "search", "rerank"])
async def test_a_bug_is_not_softened(stage: str) -> None:
    """An error that is no ServiceError fails the request, whichever stage it comes from."""
    bench = Bench()
    behaviour_of(bench, stage).error = ZeroDivisionError("a bug")

    with pytest.raises((ZeroDivisionError, ExceptionGroup)) as failed:
        await bench.ask()

    assert "a bug" in repr(failed.value)


async def test_one_lost_space_is_skipped_and_named() -> None:
    """The other space still answers; the receipt names the one that does not."""
    bench = Bench()
    bench.retriever.add_workspace("negoce", (SPACE, OTHER_SPACE))
    bench.embedder.lost_spaces = {OTHER_SPACE.space_id}

    await bench.ask()

    vectors = bench.retriever.searches[0].variants[0].vectors
    assert [query.space_id for query in vectors] == [SPACE.space_id]
    report = bench.reports["embed"]
    assert (report.outcome.name, report.reason) == ("DEGRADED", "PROVIDER_DOWN")
    assert OTHER_SPACE.space_id in report.detail
    assert SPACE.space_id not in report.detail
    assert report.provider == "fake"


async def test_the_rewritten_query_is_not_embedded_for_a_lost_space() -> None:
    """A provider that has just failed is not asked again by the same question."""
    bench = Bench(FakeRewriter(rewritten="retard port"))
    bench.retriever.add_workspace("negoce", (SPACE, OTHER_SPACE))
    bench.embedder.lost_spaces = {OTHER_SPACE.space_id}

    await bench.ask("retards ?")

    assert sorted(bench.embedder.embedded()) == sorted(
        [
            ("retards ?", SPACE.space_id),
            ("retards ?", OTHER_SPACE.space_id),
            ("retard port", SPACE.space_id),
        ]
    )


@pytest.mark.parametrize("lost", [{SPACE.space_id}, {SPACE.space_id, OTHER_SPACE.space_id}])
async def test_dense_only_takes_bm25_back_where_a_space_is_lost(lost: set[str]) -> None:
    """With hybrid search off, passages of a lost space are still found by their words."""
    bench = Bench(switches=SwitchValues(hybrid_search_enabled=False))
    bench.retriever.add_workspace("negoce", (SPACE, OTHER_SPACE))
    bench.embedder.lost_spaces = lost

    await bench.ask()

    assert bench.retriever.searches[0].mode is SearchMode.HYBRID
    assert "BM25" in bench.reports["search"].detail


async def test_a_vector_of_the_wrong_width_is_not_searched_with() -> None:
    """An embedder that breaks the contract costs its stage, not the answer."""
    bench = Bench()
    bench.embedder.widths[SPACE.space_id] = 5

    retrieval = await bench.ask()

    assert bench.reports["embed"].reason == "EMBEDDER_ANSWER_BROKEN"
    assert bench.retriever.searches[0].variants[0].vectors == ()
    assert retrieval.hits
