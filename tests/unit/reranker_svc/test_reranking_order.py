"""Which implementation sorts, and what happens to candidates, time and report when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.cost_ledger import CostLedger
from chassis.deadline import narrowed_deadline
from chassis.errors import Unavailable
from chassis.metrics import Metrics
from ranking_formula.placement import placed
from reranker_svc.implementation import Implementation
from reranker_svc.model_window import ModelWindow
from reranker_svc.passage_model import ModelOrder
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.reranking import Candidate, Ranking, RerankRequest, SpaceScore, StageOutcome
from reranker_svc.usage import Usage
from tests.fakes.passage_models import FakePassageModel

ENDPOINT, FOLDER, FORMULA = Implementation.ENDPOINT, Implementation.FOLDER, Implementation.FORMULA
DOWN = Unavailable("the endpoint is down", reason="VENDOR_UNAVAILABLE")


def candidates(count: int) -> tuple[Candidate, ...]:
    """Candidates whose formula order is that of their names backwards."""
    return tuple(
        Candidate(f"p{at}", "Titre", f"Texte {at}", (SpaceScore("s", at / count),), bm25_score=1.0)
        for at in range(count)
    )


def request(
    *given: Candidate, window: int = 0, order: Sequence[Implementation] = ()
) -> RerankRequest:
    return RerankRequest("acme", "Quel prix ?", given, window, tuple(order))


def ids(ranking: Ranking) -> list[str]:
    return [passage.passage_id for passage in ranking.passages]


def reranker(
    models: dict[Implementation, FakePassageModel],
    order: Sequence[Implementation],
    metrics: Metrics | None = None,
    daily_cap: float | None = None,
) -> PassageReranker:
    return PassageReranker(
        models,
        Usage(metrics or Metrics()),
        CostLedger(daily_cap),
        order_of=lambda _: order,
        window=3,
    )


async def test_a_model_sorts_its_window_and_nothing_behind_it() -> None:
    """The first three are turned round; the rest keeps the fused order after them."""
    model = FakePassageModel()
    ranking = await reranker({ENDPOINT: model}, [ENDPOINT, FORMULA]).rerank(request(*candidates(5)))

    assert ids(ranking) == ["p2", "p1", "p0", "p3", "p4"]
    assert [passage.score for passage in ranking.passages] == [2.0, 1.0, 0.0, None, None]
    report = ranking.report
    assert report.outcome is StageOutcome.RAN
    assert (report.provider, report.model, report.reason) == ("fake", "turn-round", "")
    assert (report.input_token_count, report.output_token_count) == (30, 3)
    assert (report.cost, report.currency) == (0.25, "EUR")


async def test_a_request_chooses_window_and_order() -> None:
    """What it names counts instead of the service's own."""
    first, second = FakePassageModel(), FakePassageModel("other", "model")
    ranking = await reranker({ENDPOINT: first, FOLDER: second}, [ENDPOINT]).rerank(
        request(*candidates(5), window=2, order=[FOLDER])
    )

    assert ids(ranking) == ["p1", "p0", "p2", "p3", "p4"]
    assert ranking.report.provider == "other"
    assert first.asked == []


async def test_blank_passages_are_not_shown_and_keep_their_place() -> None:
    """There is nothing to read in them, and a vendor may refuse the request for one."""
    model = FakePassageModel()
    blank = Candidate("blank", "Titre", " \n")
    first, second, third = candidates(3)
    ranking = await reranker({ENDPOINT: model}, [ENDPOINT]).rerank(
        request(first, blank, second, third)
    )

    assert ids(ranking) == ["p1", "blank", "p0", "p2"]
    [(_, passages, _)] = model.asked
    assert [passage.text for passage in passages] == ["Texte 0", "Texte 1"]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_model_is_not_asked_to_sort_one_passage(count: int) -> None:
    """With one passage there is one order."""
    model = FakePassageModel()
    ranking = await reranker({ENDPOINT: model}, [ENDPOINT, FORMULA]).rerank(
        request(*candidates(count))
    )

    assert len(model.asked) == count - 1
    assert ranking.report.outcome is StageOutcome.RAN
    assert ranking.report.provider == ("embedded" if count == 1 else "fake")


@pytest.mark.parametrize(
    ("error", "reason"), [(DOWN, "VENDOR_UNAVAILABLE"), (ValueError("a bug"), "INTERNAL")]
)
async def test_a_failure_falls_to_the_next(error: Exception, reason: str) -> None:
    """The formula sorts instead, and the report says who failed and why."""
    metrics = Metrics()
    models = {ENDPOINT: FakePassageModel(error=error)}
    ranking = await reranker(models, [ENDPOINT, FORMULA], metrics).rerank(request(*candidates(4)))

    assert ids(ranking) == ["p3", "p2", "p1", "p0"]
    report = ranking.report
    assert report.outcome is StageOutcome.DEGRADED
    assert report.reason == reason
    assert report.detail.endswith("sorted by embedded instead")
    assert "a bug" not in report.detail
    assert (report.provider, report.model) == ("embedded", "formula")
    text = metrics.exposition().decode()
    assert f'reranker_failures_total{{implementation="endpoint",reason="{reason}"}} 1.0' in text
    assert (
        'reranker_rankings_total{model="formula",outcome="degraded",provider="embedded"} 1.0'
        in text
    )


async def test_when_all_fail_the_fused_order_stays() -> None:
    """Nothing is lost, and each failure is told."""
    models = {
        ENDPOINT: FakePassageModel(error=DOWN),
        FOLDER: FakePassageModel(error=Unavailable("the model is gone", reason="MODEL_FAILED")),
    }
    ranking = await reranker(models, [ENDPOINT, FOLDER]).rerank(request(*candidates(4)))

    assert ids(ranking) == ["p0", "p1", "p2", "p3"]
    assert ranking.report.outcome is StageOutcome.DEGRADED
    assert "the endpoint is down; the model is gone" in ranking.report.detail
    assert (ranking.report.provider, ranking.report.model) == ("", "")


async def test_what_is_not_configured_counts_as_failed() -> None:
    """A workspace may ask for a model that this service does not have."""
    ranking = await reranker({}, [FORMULA]).rerank(
        request(*candidates(3), order=[Implementation.CHAT, FORMULA])
    )

    assert ids(ranking) == ["p2", "p1", "p0"]
    assert ranking.report.outcome is StageOutcome.DEGRADED
    assert ranking.report.reason == "NOT_CONFIGURED"


async def test_a_workspace_that_has_cost_enough_is_sorted_for_free() -> None:
    """The cap counts by workspace and day; another workspace is not held to it."""
    model = FakePassageModel()
    service = reranker({ENDPOINT: model}, [ENDPOINT, FORMULA], daily_cap=0.4)
    reports = [(await service.rerank(request(*candidates(3)))).report for _ in range(3)]
    other = await service.rerank(replace(request(*candidates(3)), workspace="other"))

    assert [report.provider for report in reports] == ["fake", "fake", "embedded"]
    assert reports[2].reason == "DAILY_COST_CAP_REACHED"
    assert other.report.provider == "fake"


async def test_a_slow_model_leaves_time_for_those_behind_it() -> None:
    """The first model gets a share of the deadline, the second most of the rest."""
    slow, quick = FakePassageModel(delay_s=60.0), FakePassageModel("quick", "model")
    with narrowed_deadline(1.0):
        ranking = await reranker({ENDPOINT: slow, FOLDER: quick}, [ENDPOINT, FOLDER]).rerank(
            request(*candidates(3))
        )

    assert ids(ranking) == ["p2", "p1", "p0"]
    assert ranking.report.outcome is StageOutcome.DEGRADED
    assert ranking.report.reason == "DEADLINE_EXCEEDED"
    assert slow.asked[0][2] == pytest.approx(0.6, abs=0.05)
    assert 0.0 < quick.asked[0][2] <= 0.4


async def test_without_any_time_the_formula_sorts() -> None:
    """A call that arrives in its last moment is answered, not lost."""
    slow = FakePassageModel(delay_s=60.0)
    with narrowed_deadline(0.0):
        ranking = await reranker({ENDPOINT: slow}, [ENDPOINT, FORMULA]).rerank(
            request(*candidates(3))
        )

    assert ids(ranking) == ["p2", "p1", "p0"]
    assert ranking.report.reason == "DEADLINE_EXCEEDED"


async def test_a_cancelled_caller_is_no_failure() -> None:
    """The model's call is cancelled and no other implementation is tried."""
    slow, other = FakePassageModel(delay_s=60.0), FakePassageModel()
    call = asyncio.create_task(
        reranker({ENDPOINT: slow, FOLDER: other}, [ENDPOINT, FOLDER]).rerank(
            request(*candidates(3))
        )
    )
    await asyncio.sleep(0)
    assert slow.asked, "the model is asked at the first turn"
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert other.asked == []


@settings(derandomize=True, max_examples=60)
@given(st.data())
def test_no_passage_is_lost_or_invented(data: st.DataObject) -> None:
    """Whatever a model's order, the answer is a permutation, and the rest stays in its place."""
    texts = data.draw(st.lists(st.sampled_from(["", " ", "texte"]), max_size=12))
    given_ones = tuple(Candidate(f"p{at}", text=text) for at, text in enumerate(texts))
    window = ModelWindow.of(given_ones, data.draw(st.integers(0, 14)))
    order = tuple(data.draw(st.permutations(range(len(window.indices)))))

    passages = window.ordered(ModelOrder(order, (None,) * len(order), "fake", "fake"))

    fused = [candidate.passage_id for candidate in given_ones]
    found = [passage.passage_id for passage in passages]
    assert sorted(found) == sorted(fused)
    moved = {fused[index] for index in window.indices}
    assert [name for name in found if name in moved] == [fused[window.indices[at]] for at in order]
    assert [at for at, name in enumerate(found) if name not in moved] == [
        at for at, name in enumerate(fused) if name not in moved
    ]


def test_groups_share_out_the_places_of_their_members() -> None:
    """Two groups between each other, and one candidate that belongs to none."""
    assert placed(5, [[4, 0], [3, 1]]) == [4, 3, 2, 1, 0]
