"""Each rerank endpoint against a server that speaks its format, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from chassis.circuit_breaker import BreakerState, CircuitOpen
from chassis.deadline import Deadline
from chassis.metrics import Metrics
from chassis.vendor_errors import (
    VendorRefused,
    VendorTimeout,
    VendorUnauthorized,
)
from reranker_svc.bill import Bill
from reranker_svc.endpoints.dialects import DIALECTS
from reranker_svc.passage_model import Passage
from reranker_svc.service import endpoint_model
from tests.fakes.json_server import RefusedError, serving
from tests.fakes.rerank_endpoints import PASSAGES, QUESTION, SERVERS, model_of, settings_of, soon
from tests.fakes.vendors.rerank_servers import (
    KEY,
    CohereServer,
    InfinityServer,
    LlamaCppServer,
    TeiServer,
)


async def until(true: Callable[[], bool]) -> None:
    """Waits for something that another task does."""
    async with asyncio.timeout(5.0):
        while not true():  # noqa: ASYNC110 - nobody would set an event
            await asyncio.sleep(0.005)


@pytest.fixture(params=list(SERVERS))
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind in turn."""
    name: str = request.param
    return name


def test_every_dialect_is_tried_here() -> None:
    """No dialect without a server that speaks it."""
    assert set(SERVERS) == set(DIALECTS)


async def test_passages_are_placed_by_index(kind: str) -> None:
    """Whatever the order of the results; titles are read, equal passages keep their order."""
    server = SERVERS[kind]()
    async with model_of(server, kind) as model:
        answer = await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert answer.order == (2, 1, 3, 0)
    assert answer.scores[1] == answer.scores[3]
    assert server.documents == [
        ["Le fioul.", "Le prix du fioul.", "Énergie\nLe prix du gaz naturel.", "Le prix du fioul."]
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (answer.provider, answer.model) == (kind, "" if kind == "tei" else "a-reranker")


@pytest.mark.parametrize(
    ("kind", "tokens"),
    [("jina", 815), ("voyage", 2000), ("mixedbread", 64), ("infinity", 300), ("cohere", 0)],
)
async def test_tokens_are_those_that_the_endpoint_counted(kind: str, tokens: int) -> None:
    """0 where it does not say."""
    async with model_of(SERVERS[kind](), kind) as model:
        bill = Bill()
        await model.order(QUESTION, PASSAGES, soon(), bill)

    assert bill.input_token_count == tokens


@pytest.mark.parametrize("status", [413, 422])
async def test_a_batch_limit_is_learnt(status: int) -> None:
    """More passages than TEI takes are shared out at once; a lower limit is found and kept."""
    server = TeiServer(max_documents=8, refusal_status=status)
    passages = [Passage("", f"{'gaz ' * (at == 33)}passage {at}") for at in range(40)]
    async with model_of(server, "tei") as model:
        first = await model.order(QUESTION, passages, soon(), Bill())
        first_requests = [len(documents) for documents in server.documents]
        server.bodies.clear()
        second = await model.order(QUESTION, passages, soon(), Bill())

    assert first.order[0] == 33
    assert max(first_requests) == 20, "32 is the limit that is known beforehand"
    assert second == first
    assert max(len(documents) for documents in server.documents) <= 8
    assert len(server.bodies) <= 10, "the limit is found once"


@pytest.mark.parametrize("kind", ["llamacpp", "vllm"])
async def test_too_long_passages_are_cut(kind: str) -> None:
    """Neither the 500 of llama.cpp nor a 400 loses the order; the length is remembered."""
    server = SERVERS[kind](max_characters=900)
    passages = (*PASSAGES, Passage("", "Le prix du gaz " + "x" * 3000))
    async with model_of(server, kind) as model:
        answer = await model.order(QUESTION, passages, soon(), Bill())
        server.bodies.clear()
        again = await model.order(QUESTION, passages, soon(), Bill())

    assert answer.order == (2, 4, 1, 3, 0)
    assert again.order == answer.order
    assert max(len(text) for documents in server.documents for text in documents) <= 900


async def test_a_request_that_is_refused_whatever_its_size_teaches_nothing() -> None:
    """An unknown model is a 400 on infinity: the breaker opens, and the caps stay."""
    server = InfinityServer(failures=[RefusedError(400, {"error": "no such model"})] * 12)
    async with model_of(server, "infinity") as model:
        with pytest.raises(VendorRefused):
            await model.order(QUESTION, PASSAGES, soon(), Bill())
        with pytest.raises(CircuitOpen):
            await model.order(QUESTION, PASSAGES, soon(), Bill())

        assert model._client.breaker.state is BreakerState.OPEN
        assert len(server.bodies) <= 8
        assert model._caps.on_trial().documents == DIALECTS["infinity"].request_documents


async def test_one_passage_that_cannot_be_scored_opens_no_breaker() -> None:
    """The question falls to the next implementation; the next question is asked as before."""
    server = TeiServer(failures=[RefusedError(424, {"error": "score is NaN"})])
    async with model_of(server, "tei") as model:
        with pytest.raises(VendorRefused, match="no number"):
            await model.order(QUESTION, PASSAGES, soon(), Bill())
        answer = await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert answer.order[0] == 2
    assert len(server.bodies) == 2


async def test_a_busy_endpoint_is_asked_once_more() -> None:
    """A 429 and a 503 while the model loads pass; the second attempt counts."""
    server = LlamaCppServer(failures=[RefusedError(503, {"error": "Loading model"})])
    async with model_of(server, "llamacpp") as model:
        answer = await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert answer.order[0] == 2
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"message": "invalid api token"}),
        (402, {"message": "payment required"}),
        (404, {"message": "model not found"}),
        (429, {"error": {"code": "insufficient_quota"}}),
    ],
)
async def test_what_stays_wrong_is_asked_once(status: int, body: object) -> None:
    """A key, a bill, a model or a quota is not mended by asking again."""
    server = CohereServer(failures=[RefusedError(status, body)] * 9)
    async with model_of(server, "cohere") as model:
        with pytest.raises(VendorRefused) as caught:
            await model.order(QUESTION, PASSAGES, soon(), Bill())

    assert len(server.bodies) == 1
    assert isinstance(caught.value, VendorUnauthorized) == (status == 401)
    assert KEY not in str(caught.value)


async def test_the_deadline_ends_the_call() -> None:
    """A server that hangs costs no more than the time that is given."""
    server = TeiServer(delay_s=60.0)
    async with model_of(server, "tei") as model:
        with pytest.raises(VendorTimeout):
            await model.order(QUESTION, PASSAGES, Deadline.after(0.05), Bill())


async def test_a_cancelled_caller_cancels_the_request() -> None:
    """Nothing stays open at the vendor for an answer that nobody reads."""
    server = TeiServer(delay_s=60.0)
    async with model_of(server, "tei") as model:
        call = asyncio.create_task(model.order(QUESTION, PASSAGES, soon(), Bill()))
        await until(lambda: bool(server.bodies))
        assert server.open_connections() == 1
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: server.open_connections() == 0)


async def test_prices_are_those_of_the_model() -> None:
    """By search or by token at a vendor, nothing on a server of one's own, unknown elsewhere."""
    passages = [Passage("", f"passage {at}") for at in range(150)]

    async def cost(kind: str, model_name: str) -> tuple[object, str]:
        async with serving(server := SERVERS[kind]()):
            model = endpoint_model(settings_of(server, kind, model_name), Metrics())
            async with model.running():
                bill = Bill()
                await model.order(QUESTION, passages, soon(), bill)
        return bill.cost, bill.currency

    assert await cost("cohere", "") == (pytest.approx(0.004), "USD")
    assert await cost("voyage", "rerank-2.5") == (pytest.approx(2000 * 0.05 / 1e6), "USD")
    assert await cost("infinity", "bge") == (0.0, "USD")
    assert await cost("jina", "a-model-of-tomorrow") == (None, "")
