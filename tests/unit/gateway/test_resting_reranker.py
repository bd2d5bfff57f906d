"""A reranker that only has the formula is left alone for as long as it said, and no longer."""

from __future__ import annotations

import pytest

from chassis.errors import Unavailable
from gateway.receipt import StageOutcome
from gateway.reranking import Candidate, FormulaAlone, Ranking
from gateway.resting_reranker import LONGEST_REST_S, RestingReranker
from gateway.searching import SpaceScore
from ranking_formula.formula import rank_by_formula
from tests.fakes.clock import FakeClock
from tests.fakes.gateway_services.models import FakeReranker

CANDIDATES = (
    Candidate("p1", "", "", (SpaceScore("s", 0.2),), 3.0),
    Candidate("p2", "", "", (SpaceScore("s", 0.9),), 1.0),
    Candidate("p3", "", "", (SpaceScore("s", 0.5),), 2.9),
)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


def alone(seconds: float = 10.0, weight: float = 0.8) -> FakeReranker:
    """A reranker that says that the formula alone sorts."""
    return FakeReranker(formula_alone=FormulaAlone(seconds, weight))


async def asked(
    reranker: RestingReranker, workspace: str = "negoce", *, parts: bool = False
) -> Ranking:
    """Asks it once."""
    return await reranker.rerank(
        "combien", CANDIDATES, workspace=workspace, include_formula_parts=parts
    )


@pytest.mark.parametrize("parts", [False, True])
async def test_its_formula_sorts_while_it_rests(clock: FakeClock, parts: bool) -> None:
    """With the weight that it named, and its report, at no time."""
    reranker = alone()
    resting = RestingReranker(reranker, clock=clock)
    first = await asked(resting)
    clock.now += 9.9
    spared = await asked(resting, parts=parts)

    assert len(reranker.calls) == 1
    assert spared.passages == rank_by_formula(
        CANDIDATES, similarity_weight=0.8, include_parts=parts
    )
    assert [each.passage_id for each in spared.passages] == ["p2", "p3", "p1"]
    assert spared.report.outcome is StageOutcome.RAN
    assert (spared.report.provider, spared.report.model) == ("embedded", "formula")
    assert (spared.report.latency_ms, first.report.provider) == (0.0, "embedded")


async def test_it_is_asked_again_after_its_rest(clock: FakeClock) -> None:
    """A model that was switched on in the meantime sorts from then on."""
    reranker = alone()
    resting = RestingReranker(reranker, clock=clock)
    await asked(resting)
    reranker.formula_alone = None
    clock.now += 10.0
    await asked(resting)
    await asked(resting)

    assert len(reranker.calls) == 3


async def test_each_workspace_has_its_own_rest(clock: FakeClock) -> None:
    """The order of implementations is a workspace's own."""
    reranker = alone()
    resting = RestingReranker(reranker, clock=clock)
    await asked(resting, "negoce")
    await asked(resting, "douane")
    await asked(resting, "negoce")

    assert len(reranker.calls) == 2


async def test_no_word_of_a_reranker_silences_it_for_good(clock: FakeClock) -> None:
    """It is asked again after a minute, whatever it said."""
    reranker = alone(seconds=1e9)
    resting = RestingReranker(reranker, clock=clock)
    await asked(resting)
    clock.now += LONGEST_REST_S
    await asked(resting)

    assert len(reranker.calls) == 2


async def test_a_lost_reranker_does_not_rest(clock: FakeClock) -> None:
    """It is called, so that its loss is noted at once; back again, it rests on."""
    reranker = alone()
    resting = RestingReranker(reranker, clock=clock)
    await asked(resting)
    reranker.reachable = False
    reranker.behaviour.error = Unavailable("the reranker is lost")
    with pytest.raises(Unavailable):
        await asked(resting)
    reranker.reachable, reranker.behaviour.error = True, None
    await asked(resting)

    assert len(reranker.calls) == 2


async def test_candidates_without_any_score_are_its_own(clock: FakeClock) -> None:
    """It says why nothing was sorted; the formula has nothing to sort by."""
    reranker = alone()
    resting = RestingReranker(reranker, clock=clock)
    await asked(resting)
    bare = (Candidate("p1", "", ""), Candidate("p2", "", ""))
    await resting.rerank("combien", bare, workspace="negoce")

    assert len(reranker.calls) == 2
