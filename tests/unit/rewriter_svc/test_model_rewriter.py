"""Rewriting with chat models: once for equal requests, and only what is usable."""

from __future__ import annotations

import asyncio

import pytest

from chassis.cost_ledger import CostLedger
from chassis.deadline import narrowed_deadline
from chassis.errors import Unavailable
from chassis.vendor_errors import VendorLimited, VendorTimeout
from chat_models.chain import ChatChain
from chat_models.chat import FinishReason
from chat_models.model_card import TokenPrice
from rewriter_svc.model_rewriter import ModelRewriter
from rewriter_svc.rewrite_cache import RewriteCache
from rewriter_svc.rewriting import (
    ConversationRole,
    ConversationTurn,
    ListWeights,
    Rewrite,
    RewriteOrigin,
    RewriteRequest,
    StageOutcome,
)
from tests.fakes.chat_models import ScriptedChat, down
from tests.fakes.clock import FakeClock

QUERY = "Bonjour, quel est le prix du gaz ?"
GOOD = "prix gaz tarif énergie facture"
REQUEST = RewriteRequest("acme", QUERY, "fr")
PRICE = TokenPrice(1.0, 10.0, "EUR")


def rewriter_of(*models: ScriptedChat, cap: float | None = None) -> ModelRewriter:
    """A rewriter that asks these models."""
    return ModelRewriter(
        ChatChain(models),
        RewriteCache(200, 300.0, FakeClock()),
        CostLedger(cap),
        max_output_tokens=100,
        weights=ListWeights(1.0, 0.5),
    )


async def settled() -> None:
    """Lets every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


def degraded(rewrite: Rewrite, reason: str) -> bool:
    """Whether the original came back for this reason."""
    report = rewrite.report
    return (rewrite.query, rewrite.standalone_question, rewrite.origin) == (
        QUERY,
        QUERY,
        RewriteOrigin.ORIGINAL,
    ) and (report.outcome, report.reason) == (StageOutcome.DEGRADED, reason)


async def test_a_usable_answer_is_used() -> None:
    """With who wrote it, its tokens and its cost, and the weights of the settings."""
    rewrite = await rewriter_of(ScriptedChat(f'Requête : "{GOOD}"', price=PRICE)).rewrite(REQUEST)

    assert (rewrite.query, rewrite.standalone_question) == (GOOD, QUERY)
    assert rewrite.origin is RewriteOrigin.MODEL
    assert rewrite.weights == ListWeights(1.0, 0.5)
    report = rewrite.report
    assert (report.outcome, report.reason, report.detail) == (StageOutcome.RAN, "", "")
    assert (report.provider, report.model) == ("first", "first-model")
    assert (report.input_token_count, report.output_token_count) == (20, 5)
    assert report.cost == pytest.approx(70e-6)
    assert report.currency == "EUR"


async def test_an_equal_request_is_answered_from_memory() -> None:
    """Without a call, and without a cost."""
    model = ScriptedChat(GOOD, price=PRICE)
    rewriter = rewriter_of(model)
    await rewriter.rewrite(REQUEST)
    again = await rewriter.rewrite(REQUEST)

    assert (again.query, again.origin) == (GOOD, RewriteOrigin.CACHE)
    assert (again.report.provider, again.report.cost, again.report.input_token_count) == (
        "first",
        0.0,
        0,
    )
    assert len(model.requests) == 1


async def test_fifty_equal_requests_at_once_are_one_call() -> None:
    """One of them pays for it."""
    gate = asyncio.Event()
    model = ScriptedChat(GOOD, price=PRICE, gate=gate)
    rewriter = rewriter_of(model)
    callers = [asyncio.ensure_future(rewriter.rewrite(REQUEST)) for _ in range(50)]
    await settled()
    gate.set()

    rewrites = await asyncio.gather(*callers)

    assert len(model.requests) == 1
    assert {rewrite.query for rewrite in rewrites} == {GOOD}
    origins = [rewrite.origin for rewrite in rewrites]
    assert (origins.count(RewriteOrigin.MODEL), origins.count(RewriteOrigin.CACHE)) == (1, 49)
    assert sum(rewrite.report.cost or 0.0 for rewrite in rewrites) == pytest.approx(70e-6)


async def test_one_caller_who_leaves_does_not_disturb_the_others() -> None:
    """And the last one takes the vendor's work along."""
    gate = asyncio.Event()
    model = ScriptedChat(GOOD, gate=gate)
    rewriter = rewriter_of(model)
    callers = [asyncio.ensure_future(rewriter.rewrite(REQUEST)) for _ in range(3)]
    await settled()
    callers[0].cancel()
    await settled()
    assert model.cancelled == 0

    for caller in callers[1:]:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await settled()

    assert (len(model.requests), model.cancelled) == (1, 1)
    gate.set()
    assert (await rewriter.rewrite(REQUEST)).origin is RewriteOrigin.MODEL


async def test_whoever_has_more_time_than_the_first_gets_an_answer() -> None:
    """The first one's deadline ends its own call only."""
    model = ScriptedChat(VendorTimeout("first", "did not answer in time"), GOOD)
    model._gate = gate = asyncio.Event()
    rewriter = rewriter_of(model)
    first = asyncio.ensure_future(rewriter.rewrite(REQUEST))
    await settled()
    with narrowed_deadline(60.0):
        patient = asyncio.ensure_future(rewriter.rewrite(REQUEST))
    await settled()
    gate.set()

    assert degraded(await first, "VENDOR_TIMEOUT")
    assert (await patient).query == GOOD


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("?", "OUTPUT_EMPTY"),
        ("gas price tariff energy bill cost", "OUTPUT_OTHER_LANGUAGE"),
        ("prix gaz " + "tarif " * 100, "OUTPUT_TOO_LONG"),
        ("Je ne peux pas répondre à cette demande.", "OUTPUT_UNRELATED"),
    ],
)
async def test_an_unusable_answer_means_the_original(answer: str, reason: str) -> None:
    """Said with its reason, and paid for; it is not asked for again, since it would be the same."""
    model = ScriptedChat(answer, price=PRICE)
    rewriter = rewriter_of(model)

    first, second = await rewriter.rewrite(REQUEST), await rewriter.rewrite(REQUEST)

    assert degraded(first, reason)
    assert degraded(second, reason)
    assert first.report.cost == pytest.approx(70e-6)
    assert second.report.cost == 0.0
    assert first.report.model == "first-model"
    assert "gaz" not in first.report.detail
    assert len(model.requests) == 1


async def test_a_lost_identifier_means_the_original() -> None:
    """The query would find another order."""
    request = RewriteRequest("acme", "où est la commande BL-2024-117 ?", "fr")
    rewrite = await rewriter_of(ScriptedChat("suivi commande BL-2024-118")).rewrite(request)

    assert rewrite.query == request.query
    assert rewrite.report.reason == "OUTPUT_IDENTIFIER_LOST"


@pytest.mark.parametrize(
    ("finish_reason", "reason"),
    [(FinishReason.REFUSED, "OUTPUT_REFUSED"), (FinishReason.LENGTH, "OUTPUT_CUT")],
)
async def test_a_refusal_or_a_cut_means_the_original(
    finish_reason: FinishReason, reason: str
) -> None:
    """Half a list may end in half a word."""
    rewrite = await rewriter_of(ScriptedChat(GOOD, finish_reason=finish_reason)).rewrite(REQUEST)

    assert degraded(rewrite, reason)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (down(), "VENDOR_UNAVAILABLE"),
        (VendorLimited("first", "asks for fewer requests", status=429), "VENDOR_LIMITED"),
        (VendorTimeout("first", "did not answer in time"), "VENDOR_TIMEOUT"),
        (Unavailable("first is not called", reason="CIRCUIT_OPEN"), "CIRCUIT_OPEN"),
    ],
)
async def test_a_lost_vendor_means_the_original_for_now(error: Exception, reason: str) -> None:
    """It is not remembered: the next query is rewritten."""
    rewriter = rewriter_of(ScriptedChat(error, GOOD))

    assert degraded(await rewriter.rewrite(REQUEST), reason)
    assert (await rewriter.rewrite(REQUEST)).origin is RewriteOrigin.MODEL


async def test_a_bug_is_shown() -> None:
    """It is no trouble of a vendor, and not to be softened."""
    with pytest.raises(KeyError):
        await rewriter_of(ScriptedChat(KeyError("bug"))).rewrite(REQUEST)


async def test_a_workspace_that_has_reached_its_cap_pays_no_more() -> None:
    """Others do; what is known is still told."""
    model = ScriptedChat(GOOD, price=PRICE)
    rewriter = rewriter_of(model, cap=50e-6)
    await rewriter.rewrite(REQUEST)
    other_query = RewriteRequest("acme", QUERY + " Vite.", "fr")

    capped = await rewriter.rewrite(other_query)
    assert (capped.query, capped.report.reason) == (other_query.query, "DAILY_COST_CAP_REACHED")
    assert (await rewriter.rewrite(REQUEST)).origin is RewriteOrigin.CACHE
    other = await rewriter.rewrite(RewriteRequest("other", QUERY, "fr"))
    assert other.origin is RewriteOrigin.MODEL
    assert len(model.requests) == 2


HISTORY = (
    ConversationTurn(ConversationRole.USER, "Quel est le prix du gaz ?"),
    ConversationTurn(ConversationRole.ASSISTANT, "Douze centimes le kWh pour un particulier."),
)
FOLLOW_UP = RewriteRequest("acme", "Et pour les pros ?", "fr", HISTORY)
QUESTION = "Quel est le prix du gaz pour les professionnels ?"


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        (f"QUESTION: {QUESTION}\nSEARCH: prix gaz professionnels tarif", None),
        (f"QUESTION: {QUESTION}\nSEARCH: gas price for professionals and the bill", QUESTION),
        (f"QUESTION: {QUESTION}", QUESTION),
        (QUESTION, QUESTION),
    ],
    ids=["both", "search unusable", "search missing", "bare"],
)
async def test_a_follow_up_becomes_a_question_of_its_own(answer: str, query: str | None) -> None:
    """It is searched itself where the other line cannot be."""
    rewrite = await rewriter_of(ScriptedChat(answer)).rewrite(FOLLOW_UP)

    assert rewrite.standalone_question == QUESTION
    assert rewrite.query == (query or "prix gaz professionnels tarif")
    assert rewrite.origin is RewriteOrigin.MODEL


@pytest.mark.parametrize(
    "answer", ["SEARCH: ?", "QUESTION: what is the price of gas for a company?", "QUESTION:"]
)
async def test_a_follow_up_without_a_usable_question_stays(answer: str) -> None:
    """Rather its own words than somebody else's."""
    rewrite = await rewriter_of(ScriptedChat(answer)).rewrite(FOLLOW_UP)

    assert (rewrite.query, rewrite.standalone_question) == (FOLLOW_UP.query, FOLLOW_UP.query)
    assert rewrite.report.outcome is StageOutcome.DEGRADED
