"""The reranker over its socket while the models behind it fail, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from chassis.channel import open_channel
from chassis.metrics import Metrics
from chassis.settings import read_settings
from justesse.reranker.v1 import reranker_pb2 as pb
from justesse.reranker.v1 import reranker_pb2_grpc
from reranker_svc.service import running_reranker
from reranker_svc.settings import RerankerSettings
from tests.fakes.chat_vendor import OPENAI
from tests.fakes.json_server import serving
from tests.fakes.vendor import disconnect, fake_vendor, hang, reply
from tests.fakes.vendors.rerank_servers import TeiServer

if TYPE_CHECKING:
    # Exists for the type checker only.
    from justesse.reranker.v1.reranker_pb2_grpc import RerankerServiceAsyncStub as Stub

REQUEST = pb.RerankPassagesRequest(
    question="prix du gaz",
    candidates=[
        pb.Candidate(passage_id=f"p{at}", text=text, bm25_score=at)
        for at, text in enumerate(("le prix du gaz", "le fioul", "le prix"))
    ],
)
BY_MODEL, BY_FORMULA = ["p0", "p2", "p1"], ["p2", "p1", "p0"]


@asynccontextmanager
async def reranker(**variables: str) -> AsyncIterator[Stub]:
    """Runs the service with these settings, after the formula's in the order."""
    environment = {f"JUSTESSE_RERANKER_{name.upper()}": each for name, each in variables.items()}
    settings = read_settings(
        RerankerSettings,
        {
            "JUSTESSE_RERANKER_PORT": "0",
            "JUSTESSE_RERANKER_MANAGEMENT_PORT": "0",
            "JUSTESSE_RERANKER_METRICS_PORT": "0",
            "JUSTESSE_RERANKER_DRAIN_GRACE_S": "0",
            **environment,
        },
    )
    async with (
        running_reranker(settings, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield reranker_pb2_grpc.RerankerServiceStub(channel)


def chat_settings(url: str) -> dict[str, str]:
    return {
        "implementations": "chat,formula",
        "chat_models": "openai/model-1",
        "chat_base_url": f"{url}/v1",
    }


def ids(answer: pb.RerankPassagesResponse) -> list[str]:
    return [passage.passage_id for passage in answer.passages]


async def until(true: Callable[[], bool]) -> None:
    """Waits for something that the vendor sees."""
    async with asyncio.timeout(5.0):
        while not true():  # noqa: ASYNC110 - nobody would set an event
            await asyncio.sleep(0.005)


async def test_a_chat_model_sorts_over_http() -> None:
    """Its answer is the order, and the report names it with its tokens."""
    async with (
        fake_vendor(OPENAI.answer("0,2,1")) as vendor,
        reranker(**chat_settings(vendor.url)) as stub,
    ):
        answer = await stub.RerankPassages(REQUEST)

    assert ids(answer) == BY_MODEL
    assert answer.report.outcome == pb.STAGE_OUTCOME_RAN
    assert (answer.report.provider, answer.report.model) == ("openai", "model-1")
    assert (answer.report.input_token_count, answer.report.output_token_count) == (20, 5)


@pytest.mark.parametrize(
    "failure",
    [
        reply({"error": {"message": "down"}}, 500),
        reply({"error": {"code": "insufficient_quota"}}, 429),
        reply({"error": {"message": "no key"}}, 401),
        reply({"choices": []}),
        reply(raw=b"<html>"),
        OPENAI.answer("None of them."),
        OPENAI.answer("<think>0,1,2"),
        disconnect(),
    ],
)
async def test_a_chat_model_that_fails_changes_the_receipt_alone(
    failure: Callable[..., object],
) -> None:
    """Whatever it answers, the call is OK and the formula has sorted."""
    async with fake_vendor(failure) as vendor, reranker(**chat_settings(vendor.url)) as stub:  # type: ignore[arg-type]
        answer = await stub.RerankPassages(REQUEST, timeout=5.0)

    assert ids(answer) == BY_FORMULA
    assert answer.report.outcome == pb.STAGE_OUTCOME_DEGRADED
    assert answer.report.reason
    assert (answer.report.provider, answer.report.model) == ("embedded", "formula")


async def test_an_endpoint_that_dies_in_between_costs_no_call() -> None:
    """Before, it sorts; afterwards the formula does, and the status stays OK."""
    server, life = TeiServer(), AsyncExitStack()
    await life.enter_async_context(serving(server))
    async with (
        life,
        reranker(
            implementations="endpoint,formula", endpoint_kind="tei", endpoint_url=server.url
        ) as stub,
    ):
        before = await stub.RerankPassages(REQUEST)
        server.tampered = lambda _: None
        wrong = await stub.RerankPassages(REQUEST, timeout=5.0)
        await life.aclose()
        after = await stub.RerankPassages(REQUEST, timeout=5.0)

    assert ids(before) == BY_MODEL
    assert before.report.provider == "tei"
    assert ids(wrong) == ids(after) == BY_FORMULA
    assert after.report.outcome == wrong.report.outcome == pb.STAGE_OUTCOME_DEGRADED


async def test_a_model_that_hangs_leaves_time_for_the_formula() -> None:
    """The caller's deadline is kept."""
    async with fake_vendor(hang()) as vendor, reranker(**chat_settings(vendor.url)) as stub:
        answer = await stub.RerankPassages(REQUEST, timeout=0.5)

    assert ids(answer) == BY_FORMULA
    assert answer.report.outcome == pb.STAGE_OUTCOME_DEGRADED


async def test_a_caller_who_leaves_takes_the_vendors_work_along() -> None:
    """Its connection is closed as soon as the call is cancelled."""
    async with fake_vendor(hang()) as vendor, reranker(**chat_settings(vendor.url)) as stub:
        call = stub.RerankPassages(REQUEST, timeout=30.0)
        asking = asyncio.ensure_future(call.code())
        # The model is checked on a connection of its own.
        await until(lambda: any(each.method == "POST" for each in vendor.received))
        before = vendor.open_connections
        call.cancel()
        await until(lambda: vendor.open_connections == before - 1)
        await asking
