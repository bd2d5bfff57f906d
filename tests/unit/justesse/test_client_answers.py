"""Answers as both clients return them."""

from __future__ import annotations

import pytest

from chassis.errors import Unavailable
from justesse.client import (
    Answer,
    AnswerCitations,
    AnswerDelta,
    AnswerEnd,
    AnswerEvent,
    AnswerOrigin,
    AnswerOutcome,
    AnswerSources,
    AsyncJustesse,
    Justesse,
    JustesseError,
    NotFoundError,
    Speaker,
    TokenUsage,
    Turn,
    UnavailableError,
)
from justesse.client.answers import answer_event_from
from justesse.client.filters import equals
from justesse.gateway.v1 import answers_pb2
from tests.fakes.fake_gateway import GatewayState, fake_gateway, fake_gateway_in_thread
from tests.fakes.fake_gateway.answers import ANSWER_PIECES, answer_events

QUESTION = "Quel délai ?"


def _state() -> GatewayState:
    return GatewayState(workspaces={"demo": {}})


async def _asynchronously(state: GatewayState) -> Answer:
    async with fake_gateway(state) as address, AsyncJustesse(address) as justesse:
        return await justesse.answer(
            "demo",
            QUESTION,
            {"role": "Le service client.", "language": "fr", "live_data": "Stock : 3"},
            limit=4,
            history=[Turn(Speaker.USER, "Avant ?")],
            filter=equals("category", "returns"),
            request_id="r-1",
        )


def _synchronously(state: GatewayState) -> Answer:
    with fake_gateway_in_thread(state) as address, Justesse(address) as justesse:
        return justesse.answer("demo", QUESTION, request_id="r-1")


async def test_a_question_is_asked_like_a_search() -> None:
    """The options of a search find the sources; everything the gateway says is there."""
    state = _state()
    answer = await _asynchronously(state)

    (request,) = state.answered
    assert (request.search.workspace, request.search.query, request.search.limit) == (
        "demo",
        QUESTION,
        4,
    )
    assert (request.role, request.language, request.live_data) == (
        "Le service client.",
        "fr",
        "Stock : 3",
    )
    assert request.search.history[0].text == "Avant ?"
    assert request.search.filter.equals.field == "category"
    assert answer.text == "".join(ANSWER_PIECES)
    (citation,), (source,) = answer.citations, answer.sources
    assert (citation.index, citation.document_id, citation.page) == (1, "returns.md", "page 3")
    assert citation.heading_path == ("Guide", "Retours")
    assert (source.index, source.title) == (2, "Procédure retours")
    assert source.text == "Le délai est de 30 jours."
    outcome = answer.outcome
    assert (outcome.origin, outcome.end) == (AnswerOrigin.MODEL, AnswerEnd.TRUNCATED)
    assert outcome.refusal is None
    assert outcome.token_usage == TokenUsage(20, 5, estimated=False)
    assert (outcome.unknown_citation_count, outcome.removed_link_count) == (1, 2)
    assert (outcome.uncited_sentence_count, outcome.unsupported_sentence_count) == (3, 5)
    assert outcome.cut_sentence_count == 4
    assert outcome.language_mismatch
    assert outcome.receipt.request_id == "r-1"


async def test_both_clients_hear_the_same() -> None:
    """Apart from what was asked for."""
    state = _state()
    expected = await _asynchronously(_state())

    assert _synchronously(state) == expected


def test_events_come_one_by_one() -> None:
    """In the order in which the gateway tells them."""
    state = _state()
    with fake_gateway_in_thread(state) as address, Justesse(address) as justesse:
        events = list(justesse.stream_answer("demo", QUESTION))

    assert [type(event) for event in events] == [
        AnswerSources,
        AnswerDelta,
        AnswerDelta,
        AnswerCitations,
        AnswerOutcome,
    ]


def test_a_break_after_a_piece_is_the_error_of_its_status() -> None:
    """What came before it has been heard."""
    state = _state()
    state.answer_breaks = [Unavailable("the retriever is lost")]
    heard: list[AnswerEvent] = []
    with fake_gateway_in_thread(state) as address, Justesse(address) as justesse:
        with pytest.raises(UnavailableError, match="the retriever is lost"):
            heard.extend(justesse.stream_answer("demo", QUESTION))
        with pytest.raises(NotFoundError):
            justesse.answer("other", QUESTION)

    assert [type(event) for event in heard] == [AnswerSources, AnswerDelta]


def test_an_answer_without_its_end_is_an_error() -> None:
    """Whoever joins the pieces must not take a part for the whole."""
    state = _state()
    state.answer_events = answer_events("r-1")[:-1]
    with (
        fake_gateway_in_thread(state) as address,
        Justesse(address) as justesse,
        pytest.raises(JustesseError, match="without its end"),
    ):
        justesse.answer("demo", QUESTION)


def test_what_is_newer_than_the_client_is_passed_over() -> None:
    """An unknown event is none, and unknown words are named so."""
    outcome = answers_pb2.AnswerOutcome(origin=77, end=88)  # type: ignore[arg-type]
    told = answer_event_from(answers_pb2.AnswerQuestionResponse(outcome=outcome))

    assert answer_event_from(answers_pb2.AnswerQuestionResponse()) is None
    assert isinstance(told, AnswerOutcome)
    assert (told.origin, told.end) == (AnswerOrigin.UNKNOWN, AnswerEnd.UNKNOWN)
