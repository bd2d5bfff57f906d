"""The rewriter over a socket, before vendors over another: no trouble of theirs is an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from chassis.channel import open_channel
from chassis.metrics import Metrics
from chat_models.chain import ChatChain
from justesse.rewriter.v1 import rewriter_pb2 as pb
from justesse.rewriter.v1 import rewriter_pb2_grpc
from rewriter_svc.service import running_rewriter
from rewriter_svc.settings import RewriterSettings
from tests.fakes.chat_vendor import OLLAMA, OPENAI, VENDORS, Vendor, chat_of, choice, ollama_answer
from tests.fakes.vendor import FakeVendor, Reaction, disconnect, hang, reply, trickle

if TYPE_CHECKING:
    # Exists for the type checker only.
    from justesse.rewriter.v1.rewriter_pb2_grpc import RewriterServiceAsyncStub as Stub

QUERY = "Bonjour, quel est le prix du gaz ?"
GOOD = "prix gaz tarif énergie facture"


@asynccontextmanager
async def rewriter_before(
    vendor: Vendor, *reactions: Reaction
) -> AsyncIterator[tuple[FakeVendor, Stub]]:
    """A client of a rewriter whose only model is at a vendor that reacts like this.

    A check comes first, which the vendor answers with an empty list of models.
    """
    settings = RewriterSettings(port=0, drain_grace_s=0.0)
    async with (
        chat_of(vendor, reply({"data": []}), *reactions) as (server, chat),
        running_rewriter(settings, chain=ChatChain([chat]), metrics=Metrics()) as rewriter,
        open_channel(rewriter.address, metrics=Metrics()) as channel,
    ):
        await server.reached.wait()
        await asyncio.sleep(0.01)
        server.received.clear()
        server.reached.clear()
        yield server, rewriter_pb2_grpc.RewriterServiceStub(channel)


async def ask(stub: Stub, query: str = QUERY, timeout: float = 10.0) -> pb.RewriteQueryResponse:
    """Asks for a rewrite."""
    request = pb.RewriteQueryRequest(workspace="acme", query=query, language="fr")
    answer: pb.RewriteQueryResponse = await stub.RewriteQuery(request, timeout=timeout)
    return answer


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda each: each.name)
async def test_a_model_rewrites(vendor: Vendor) -> None:
    """From the socket to the vendor and back, with tokens, cost and time."""
    async with rewriter_before(vendor, vendor.answer(f"Requête : {GOOD}")) as (server, stub):
        answer = await ask(stub)

        assert (answer.query, answer.standalone_question) == (GOOD, QUERY)
        assert answer.origin == pb.REWRITE_ORIGIN_MODEL
        report = answer.report
        assert (report.provider, report.model) == (vendor.name, "model-1")
        assert (report.input_token_count, report.output_token_count) == (20, 5)
        assert report.cost == pytest.approx(70e-6)
        assert report.currency == "EUR"
        assert report.latency_ms > 0.0
        assert (answer.dense_weight, answer.lexical_weight) == (1.0, 1.0)
        assert (await ask(stub)).origin == pb.REWRITE_ORIGIN_CACHE
        assert len(server.received) == 1


USABLE: list[tuple[Vendor, Any]] = [
    (OPENAI, choice(f"<think>1. foo\n2. bar</think>\n1. {GOOD}")),
    (OPENAI, choice(f"il demande le prix</think>{GOOD}")),
    (OPENAI, choice([{"type": "thinking", "thinking": []}, {"type": "text", "text": GOOD}])),
    (OPENAI, {**choice(GOOD), "usage": None}),
    (OLLAMA, ollama_answer(f"```\n{GOOD}\n```\nExplication : j'ai ajouté des synonymes.")),
]


@pytest.mark.parametrize(("vendor", "value"), USABLE)
async def test_odd_answers_are_understood(vendor: Vendor, value: Any) -> None:
    """Reasoning, parts, missing usage, fences and explanations."""
    async with rewriter_before(vendor, reply(value)) as (_, stub):
        answer = await ask(stub)

        assert (answer.query, answer.origin) == (GOOD, pb.REWRITE_ORIGIN_MODEL)


NO_QUOTA = {"error": {"message": "quota", "code": "insufficient_quota"}}
UNUSABLE: list[tuple[Reaction, str]] = [
    (reply(choice("")), "VENDOR_UNUSABLE"),
    (reply(choice("", reasoning_content="hmm")), "VENDOR_UNUSABLE"),
    (reply(choice("<think>1. foo")), "VENDOR_UNUSABLE"),
    (reply({"choices": []}), "VENDOR_UNUSABLE"),
    (reply({"error": {"message": "upstream"}}), "VENDOR_UNUSABLE"),
    (reply(choice(None, refusal="I cannot.")), "OUTPUT_REFUSED"),
    (reply(choice(GOOD, "length")), "OUTPUT_CUT"),
    (reply(choice("gas price tariff energy bill cost")), "OUTPUT_OTHER_LANGUAGE"),
    (reply(choice("tarif " * 200)), "OUTPUT_TOO_LONG"),
    (reply(choice("x" * 10**6)), "OUTPUT_TOO_LONG"),
    (reply(choice("I'm sorry, I can't help.")), "OUTPUT_OTHER_LANGUAGE"),
    (reply({}, 401), "VENDOR_UNAUTHORIZED"),
    (reply({}, 402), "VENDOR_REFUSED"),
    (reply({}, 404), "VENDOR_REFUSED"),
    (reply(NO_QUOTA, 429), "VENDOR_REFUSED"),
    (reply({}, 429, {"retry-after": "3600"}), "VENDOR_LIMITED"),
    (reply({}, 503), "VENDOR_UNAVAILABLE"),
    (disconnect(), "VENDOR_UNAVAILABLE"),
    (reply(raw=b"<html>"), "VENDOR_GARBLED"),
    (reply(raw=b'{"choices": [{"message": '), "VENDOR_GARBLED"),
]


@pytest.mark.parametrize(("reaction", "reason"), UNUSABLE)
async def test_whatever_goes_wrong_the_original_comes_back(reaction: Reaction, reason: str) -> None:
    """With the status OK, and with the reason in words that quote nobody."""
    async with rewriter_before(OPENAI, reaction) as (_, stub):
        answer = await ask(stub)

        assert (answer.query, answer.standalone_question) == (QUERY, QUERY)
        assert answer.origin == pb.REWRITE_ORIGIN_ORIGINAL
        assert answer.report.outcome == pb.STAGE_OUTCOME_DEGRADED
        assert answer.report.reason == reason
        assert answer.report.detail
        assert "gaz" not in answer.report.detail


@pytest.mark.parametrize("reaction", [hang(), trickle([b" "] * 10_000, 0.01)])
async def test_a_slow_vendor_costs_no_status(reaction: Reaction) -> None:
    """The original comes back just before the caller's deadline, not after it."""
    async with rewriter_before(OPENAI, reaction) as (server, stub):
        answer = await ask(stub, timeout=1.0)

        assert (answer.query, answer.report.reason) == (QUERY, "VENDOR_TIMEOUT")
        await server.left()


async def test_killing_the_vendor_amid_a_run_changes_no_status() -> None:
    """Queries before it are rewritten, those after it are searched as they are."""
    places = ("ville", "bourg", "campagne", "gros", "détail", "vrac", "solde", "hiver", "été")
    queries = [f"prix du gaz en {place}" for place in places]
    async with rewriter_before(OPENAI, OPENAI.answer(GOOD)) as (server, stub):
        before = [await ask(stub, query) for query in queries[:3]]
        server.reactions[:] = [disconnect()]
        after = [await ask(stub, query) for query in queries[3:]]

    assert {answer.query for answer in before} == {GOOD}
    assert {answer.report.reason for answer in after} <= {"VENDOR_UNAVAILABLE", "CIRCUIT_OPEN"}
    assert after[-1].report.reason == "CIRCUIT_OPEN"
    assert [answer.query for answer in after] == queries[3:]


async def test_fifty_equal_queries_at_once_are_one_call() -> None:
    """Whatever connection they come by."""
    async with rewriter_before(OPENAI, OPENAI.answer(GOOD)) as (server, stub):
        answers = await asyncio.gather(*(ask(stub) for _ in range(50)))

        assert len(server.received) == 1
        assert {answer.query for answer in answers} == {GOOD}


async def test_the_last_caller_who_leaves_stops_the_vendor() -> None:
    """One of two who leaves does not; when both have, the connection is closed."""
    async with rewriter_before(OPENAI, hang()) as (server, stub):
        request = pb.RewriteQueryRequest(workspace="acme", query=QUERY)
        calls = [stub.RewriteQuery(request, timeout=30) for _ in range(2)]
        await server.reached.wait()
        calls[0].cancel()
        await asyncio.sleep(0.05)
        assert server.open_connections >= 1
        assert len(server.received) == 1

        calls[1].cancel()
        await server.left()
        for call in calls:
            with pytest.raises((asyncio.CancelledError, grpc.RpcError)):
                await call
