"""The report of a reranking: who sorted, why not, and how long it took."""

import pytest

from chassis.cost_ledger import CostLedger
from chassis.metrics import Metrics
from reranker_svc.implementation import Implementation
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.reranking import (
    Candidate,
    FormulaAlone,
    RerankRequest,
    SpaceScore,
    StageOutcome,
)
from reranker_svc.usage import Usage


class SteppingClock:
    """Advances by half a millisecond at each reading."""

    def __init__(self) -> None:
        self._now = 7.0

    def __call__(self) -> float:
        self._now += 0.0005
        return self._now


def request(*candidates: Candidate) -> RerankRequest:
    return RerankRequest("acme", "Combien de conteneurs ?", candidates)


def reranker() -> PassageReranker:
    return PassageReranker({}, Usage(Metrics()), CostLedger(None), clock=SteppingClock())


async def test_the_formula_reports_itself() -> None:
    """A sorted answer names the embedded formula and its milliseconds, without a reason."""
    ranking = await reranker().rerank(
        request(
            Candidate("a", space_scores=(SpaceScore("s", 0.1),)),
            Candidate("b", space_scores=(SpaceScore("s", 0.2),)),
        )
    )

    assert [passage.passage_id for passage in ranking.passages] == ["b", "a"]
    assert ranking.report.outcome is StageOutcome.RAN
    assert (ranking.report.provider, ranking.report.model) == ("embedded", "formula")
    assert (ranking.report.reason, ranking.report.detail) == ("", "")
    assert ranking.report.latency_ms == pytest.approx(0.5)


async def test_without_scores_the_fused_order_stays_and_says_so() -> None:
    """Nothing to sort by is a skipped stage, not a failure."""
    ranking = await reranker().rerank(request(Candidate("b"), Candidate("a", bm25_score=0.0)))

    assert [passage.passage_id for passage in ranking.passages] == ["b", "a"]
    assert ranking.report.outcome is StageOutcome.SKIPPED
    assert ranking.report.reason == "NO_SCORES"
    assert (ranking.report.provider, ranking.report.model) == ("", "")


async def test_no_candidates_are_no_failure() -> None:
    """An empty request gets an empty answer and the reason."""
    ranking = await reranker().rerank(request())

    assert ranking.passages == ()
    assert ranking.report.outcome is StageOutcome.SKIPPED
    assert ranking.report.reason == "NO_CANDIDATES"


FORMULA, CHAT = Implementation.FORMULA, Implementation.CHAT
SCORED = (
    Candidate("a", space_scores=(SpaceScore("s", 0.1),)),
    Candidate("b", space_scores=(SpaceScore("s", 0.2),)),
)


@pytest.mark.parametrize(
    ("order", "named", "seconds", "alone"),
    [
        ((FORMULA,), (), 10.0, FormulaAlone(10.0, 0.25)),
        ((FORMULA,), (), 0.0, None),
        ((CHAT, FORMULA), (), 10.0, None),
        ((CHAT, FORMULA), (FORMULA,), 10.0, None),
    ],
)
async def test_callers_hear_where_the_formula_alone_sorts(
    order: tuple[Implementation, ...],
    named: tuple[Implementation, ...],
    seconds: float,
    alone: FormulaAlone | None,
) -> None:
    """Only where the workspace's own order names nothing else; the weight is told with it."""
    reranker = PassageReranker(
        {},
        Usage(Metrics()),
        CostLedger(None),
        order_of=lambda _: order,
        similarity_weight=0.25,
        formula_alone_for_s=seconds,
    )
    asked = RerankRequest("acme", "Combien de conteneurs ?", SCORED, implementations=named)

    assert (await reranker.rerank(asked)).formula_alone == alone
