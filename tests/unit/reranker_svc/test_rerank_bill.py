"""What rankings cost, with the answers that were of no use."""

from __future__ import annotations

import asyncio

import pytest

from chassis.cost_ledger import CostLedger
from chassis.deadline import narrowed_deadline
from chassis.errors import Unavailable
from chassis.metrics import Metrics
from reranker_svc.bill import Bill, Charge
from reranker_svc.implementation import Implementation
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.reranking import Candidate, RerankRequest
from reranker_svc.usage import Usage
from tests.fakes.passage_models import FakePassageModel

ENDPOINT, FOLDER, FORMULA = Implementation.ENDPOINT, Implementation.FOLDER, Implementation.FORMULA
JUNK = Unavailable("answered with junk", reason="CHAT_ANSWER_UNUSABLE")
REQUEST = RerankRequest(
    "acme", "Quel prix ?", tuple(Candidate(f"p{at}", text="x", bm25_score=1.0) for at in range(3))
)


def reranker(
    *models: FakePassageModel, metrics: Metrics | None = None, cap: float | None = None
) -> PassageReranker:
    """The models as endpoint and folder, with the formula behind them."""
    named = dict(zip((ENDPOINT, FOLDER), models, strict=False))
    return PassageReranker(
        named,
        Usage(metrics or Metrics()),
        CostLedger(cap),
        order_of=lambda _: (*named, FORMULA),
    )


async def test_an_answer_of_no_use_is_in_the_report_and_the_metrics() -> None:
    """The formula sorted for nothing; the model that failed before it did not."""
    metrics = Metrics()
    model = FakePassageModel("mistral", "small", error=JUNK, paid_before_failure=True)
    report = (await reranker(model, metrics=metrics).rerank(REQUEST)).report

    assert (report.provider, report.reason) == ("embedded", "CHAT_ANSWER_UNUSABLE")
    assert (report.cost, report.currency) == (0.25, "EUR")
    assert (report.input_token_count, report.output_token_count) == (30, 3)
    text = metrics.exposition().decode()
    cost = 'reranker_cost_total{currency="EUR",model="small",provider="mistral"} 0.25'
    assert cost in text
    assert 'direction="input",model="small",provider="mistral"} 30.0' in text


async def test_answers_of_no_use_reach_the_daily_cap() -> None:
    """A model that answers junk all day does not cost more than one that answers well."""
    model = FakePassageModel(error=JUNK, paid_before_failure=True)
    service = reranker(model, cap=0.4)
    reasons = [(await service.rerank(REQUEST)).report.reason for _ in range(3)]

    assert reasons == ["CHAT_ANSWER_UNUSABLE"] * 2 + ["DAILY_COST_CAP_REACHED"]
    assert len(model.asked) == 2


async def test_what_was_paid_before_a_time_out_counts() -> None:
    """The first part had been answered when the second took too long."""
    model = FakePassageModel(delay_s=60.0, paid_before_failure=True)
    with narrowed_deadline(0.1):
        report = (await reranker(model).rerank(REQUEST)).report

    assert (report.reason, report.cost) == ("DEADLINE_EXCEEDED", 0.25)


async def test_what_was_paid_before_the_caller_left_counts() -> None:
    """Nobody reads the report; the cap is reached all the same."""
    service = reranker(FakePassageModel(delay_s=60.0, paid_before_failure=True), cap=0.2)
    call = asyncio.create_task(service.rerank(REQUEST))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (await service.rerank(REQUEST)).report.reason == "DAILY_COST_CAP_REACHED"


async def test_two_models_cost_what_both_cost() -> None:
    """The first answered junk, the second sorted."""
    first = FakePassageModel(error=JUNK, paid_before_failure=True)
    report = (await reranker(first, FakePassageModel("second")).rerank(REQUEST)).report

    assert (report.provider, report.cost, report.input_token_count) == ("second", 0.5, 60)


@pytest.mark.parametrize(
    ("charges", "cost", "currency"),
    [
        ([], None, ""),
        ([(0.0, "USD")], 0.0, "USD"),
        ([(0.5, "EUR"), (0.25, "EUR")], 0.75, "EUR"),
        ([(0.5, "EUR"), (0.0, "USD")], 0.5, "EUR"),
        ([(0.5, "EUR"), (0.5, "USD")], None, ""),
        ([(0.5, "EUR"), (None, "")], None, "EUR"),
        ([(None, "")], None, ""),
    ],
)
def test_costs_add_up_within_one_currency(
    charges: list[tuple[float | None, str]], cost: float | None, currency: str
) -> None:
    """No sum of euros and dollars, and none that leaves out an unknown price."""
    bill = Bill()
    for amount, unit in charges:
        bill.add(Charge("a", "b", cost=amount, currency=unit))

    assert (bill.cost, bill.currency) == (cost, currency)
