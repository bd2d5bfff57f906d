"""What a workspace's preset leaves to its searches, and what these decide themselves."""

from __future__ import annotations

import pytest

from gateway.filters import Threshold
from gateway.presets.presets import presets
from gateway.questions import Question
from gateway.switches.values import SwitchValues
from tests.fakes.gateway_services.bench import Bench
from tests.fakes.gateway_services.spaces import OTHER_SPACE, SPACE


def bench_of(preset: str) -> Bench:
    """Returns a bench whose workspace has this preset."""
    bench = Bench(switches=SwitchValues(hybrid_candidate_count=33, rerank_candidate_count=44))
    bench.retriever.add_workspace("negoce", preset=preset)
    return bench


@pytest.mark.parametrize("name", presets())
async def test_a_search_is_made_as_the_preset_says(name: str) -> None:
    """Lengths of lists, candidates for models, thresholds in the preferred space, and hits; what
    the preset leaves open is what the switches say."""
    defaults = presets()[name].search
    bench = bench_of(name)

    retrieval = await bench.ask()

    (search,) = bench.retriever.searches
    assert search.candidate_count == (defaults.candidate_count or 33)
    assert search.thresholds == defaults.thresholds(SPACE.space_id)
    assert bench.reranker.calls[0][2] == (defaults.rerank_candidate_count or 44)
    assert retrieval.question.page_length == defaults.limit


async def test_what_the_question_says_counts_before_its_preset() -> None:
    """Limit, lists and thresholds."""
    bench = bench_of("tutorial")
    own = (Threshold(OTHER_SPACE.space_id, min_similarity=0.1),)

    retrieval = await bench.ask(limit=2, candidate_count=7, thresholds=own)

    (search,) = bench.retriever.searches
    assert (search.candidate_count, search.thresholds) == (7, own)
    assert len(retrieval.hits) == 2


async def test_a_preset_switches_nothing_on() -> None:
    """Candidates for a reranker that is switched off are no reason to call it."""
    bench = bench_of("tutorial")
    bench.switches = SwitchValues(reranking_enabled=False, query_rewrite_enabled=False)

    await bench.ask()

    assert not bench.reranker.calls
    assert not bench.rewriter.calls


async def test_a_workspace_without_vectors_has_no_floor() -> None:
    """There is no space whose cosine it could be about."""
    bench = bench_of("tutorial")
    bench.retriever.add_workspace("negoce", spaces=(), preset="tutorial")

    await bench.ask()

    assert bench.retriever.searches[0].thresholds == ()


def test_a_question_without_a_limit_has_eight_hits() -> None:
    """Where nobody looked up its workspace."""
    assert Question("w", "q").page_length == 8
