"""Explanations as both clients return them."""

import pytest

from justesse.client import (
    AsyncJustesse,
    ExpectationOutcome,
    Justesse,
    NotFoundError,
    RewriteOrigin,
    SearchExplanation,
    Speaker,
    Turn,
)
from justesse.client.explanations import search_explanation_from
from justesse.client.filters import equals
from justesse.gateway.v1 import explanations_pb2
from tests.fakes.fake_gateway import SPACE, GatewayState, fake_gateway, fake_gateway_in_thread
from tests.fakes.fake_gateway.explanations import EXPLAINED_ID


async def _asynchronously(state: GatewayState) -> SearchExplanation:
    async with fake_gateway(state) as address, AsyncJustesse(address) as justesse:
        return await justesse.explain(
            "demo",
            "Pourquoi ?",
            EXPLAINED_ID,
            chunk_index=4,
            limit=2,
            history=[Turn(Speaker.USER, "Avant ?")],
            filter=equals("category", "shipments"),
            request_id="r-1",
        )


async def test_an_explanation_is_asked_for_like_a_search() -> None:
    """The search inside is that of `search`; the answer holds what every stage did."""
    state = GatewayState()
    explanation = await _asynchronously(state)

    (request,) = state.explanations
    assert (request.external_id, request.chunk_index) == (EXPLAINED_ID, 4)
    assert (request.search.workspace, request.search.limit) == ("demo", 2)
    assert request.search.history[0].text == "Avant ?"
    assert request.search.filter.equals.field == "category"
    assert explanation.receipt.request_id == "r-1"
    (passage,) = explanation.passages
    assert (passage.outcome, passage.rank) == (ExpectationOutcome.RETURNED, 1)
    assert passage.rerank is not None
    assert passage.rerank.formula_parts is not None
    assert passage.rerank.formula_parts.lexical_share == 1.0
    held, cut = passage.standings
    assert (held.list_name, held.effective_rank, held.share) == (SPACE, 2.5, 0.5)
    assert (cut.rank, cut.contribution) == (34, 0.0)
    assert explanation.rewrite_origin is RewriteOrigin.MODEL
    assert explanation.documents_changed


def test_the_synchronous_client_explains_the_same() -> None:
    """Without a position all passages come; one that no stage placed has no numbers."""
    state = GatewayState()
    with fake_gateway_in_thread(state) as address, Justesse(address) as justesse:
        explanation = justesse.explain("demo", "Pourquoi ?", EXPLAINED_ID)
        with pytest.raises(NotFoundError, match="no document 'other'"):
            justesse.explain("demo", "Pourquoi ?", "other")

    assert not state.explanations[0].HasField("chunk_index")
    assert len(explanation.passages) == 18
    lost = explanation.passages[-1]
    assert lost.outcome is ExpectationOutcome.IN_NO_LIST
    assert (lost.rank, lost.fused_rank, lost.fused_score, lost.rerank) == (None, None, None, None)


def test_words_newer_than_the_client_are_unknown() -> None:
    """An outcome or origin of a later contract is no failure."""
    message = explanations_pb2.ExplainSearchResponse(
        passages=[explanations_pb2.ExplainedPassage(outcome=99)],  # type: ignore[arg-type]
        rewrite_origin=99,  # type: ignore[arg-type]
    )
    explanation = search_explanation_from(message)

    assert explanation.passages[0].outcome is ExpectationOutcome.UNKNOWN
    assert explanation.rewrite_origin is RewriteOrigin.UNKNOWN
