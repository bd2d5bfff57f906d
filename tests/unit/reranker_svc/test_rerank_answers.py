"""Answers of rerank endpoints that rank nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from chassis.vendor_errors import VendorError, VendorUnusable
from reranker_svc.bill import Bill
from reranker_svc.endpoints.answers import document_scores
from reranker_svc.endpoints.dialects import DIALECTS
from tests.fakes.rerank_endpoints import PASSAGES, QUESTION, SERVERS, model_of, soon
from tests.fakes.vendors.rerank_servers import CohereServer, JinaServer


@pytest.fixture(params=list(SERVERS))
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind in turn."""
    name: str = request.param
    return name


def _without_one(results: list[Any]) -> None:
    results.pop()


def _with_one_twice(results: list[Any]) -> None:
    results[0]["index"] = results[1]["index"]


def _out_of_range(results: list[Any]) -> None:
    results[0]["index"] = len(results)


def _negative(results: list[Any]) -> None:
    results[0]["index"] = -1


def _true(results: list[Any]) -> None:
    results[0]["index"] = True


def _without_index(results: list[Any]) -> None:
    del results[0]["index"]


@pytest.mark.parametrize(
    "damage",
    [_without_one, _with_one_twice, _out_of_range, _negative, _true, _without_index],
)
async def test_an_answer_that_names_not_each_passage_once_is_a_failure(
    kind: str, damage: Callable[[list[Any]], None]
) -> None:
    """Fewer results, repeated or impossible indices: no order is guessed from them."""

    def damaged(value: Any) -> Any:
        damage(value if isinstance(value, list) else value[DIALECTS[kind].list_key])
        return value

    async with model_of(SERVERS[kind](tampered=damaged), kind) as model:
        with pytest.raises(VendorUnusable):
            await model.order(QUESTION, PASSAGES, soon(), Bill())


@pytest.mark.parametrize("score", [None, "0.5", True, math.nan, math.inf])
async def test_a_score_that_is_no_number_is_a_failure(score: object) -> None:
    """Null, text, a truth value, NaN and infinity rank nothing."""

    def damaged(value: Any) -> Any:
        value["results"][1]["relevance_score"] = score
        return value

    async with model_of(JinaServer(tampered=damaged), "jina") as model:
        with pytest.raises(VendorError):
            await model.order(QUESTION, PASSAGES, soon(), Bill())


@pytest.mark.parametrize("score", [math.nan, -math.inf, 10**400])
def test_a_number_beyond_all_is_told_though_json_let_it_pass(score: float) -> None:
    """It would sort at random, or not become a float."""
    results = [{"index": 0, "score": 0.5}, {"index": 1, "score": score}]
    with pytest.raises(VendorUnusable, match="no finite number"):
        document_scores("tei", DIALECTS["tei"], results, 2)


@pytest.mark.parametrize("value", [{"error": {"message": "down"}}, [], {"results": {}}, "no", None])
async def test_an_error_under_a_good_status_is_a_failure(value: object) -> None:
    """Proxies answer so when what is behind them is down."""
    async with model_of(CohereServer(tampered=lambda _: value), "cohere") as model:
        with pytest.raises(VendorUnusable):
            await model.order(QUESTION, PASSAGES, soon(), Bill())


async def test_an_answer_of_no_use_has_been_paid_for() -> None:
    """What the endpoint says it has read is on the bill."""
    server = JinaServer(tampered=lambda value: value | {"results": []})
    bill = Bill()
    async with model_of(server, "jina") as model:
        with pytest.raises(VendorUnusable):
            await model.order(QUESTION, PASSAGES, soon(), bill)

    assert bill.input_token_count == 815 * len(server.bodies)
