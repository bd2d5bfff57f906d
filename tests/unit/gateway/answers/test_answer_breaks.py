"""Chat models that are lost, cut, or too dear: what was said stays, else sources are quoted."""

from __future__ import annotations

import pytest

from chassis.cost_ledger import CostLedger
from chassis.deadline import Deadline, narrowed_deadline
from chassis.errors import DeadlineExceeded
from chat_models.chain import ChatChain
from chat_models.model_card import ModelCard, TokenPrice
from gateway.answers.events import AnswerOrigin
from gateway.answers.model_attempt import AnswerModels
from gateway.answers.whole_answer import whole_answer
from gateway.questions import Question
from tests.fakes.answers.desk import GOOD, assert_extracted, desk
from tests.fakes.answers.doors import DOORS, answer_doors
from tests.fakes.answers.tile_trade import QUESTION, RETURNS, fill
from tests.fakes.answers.vendor import (
    breaks_off,
    says,
    says_nothing,
)
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.vendor import Reaction, reply


async def test_a_silent_model_leaves_what_it_said(mesh: MeshOfFakes) -> None:
    """The sentence it had begun is left out, and the end is typed."""
    text = GOOD + " Et pour finir, il faut"
    async with desk(mesh, breaks_off(text, "silent", size=1_000), idle_limit_s=0.3) as (doors, _):
        heard = await doors.ask_everywhere()

    assert "30 jours" in heard.text
    assert "pour finir" not in heard.text
    assert heard.cited[0] == (1, "returns.md")
    assert (heard.origin, heard.end) == ("MODEL", "INCOMPLETE")
    assert heard.stage == ("DEGRADED", "VENDOR_TIMEOUT")


async def test_a_model_that_is_lost_leaves_what_it_said(mesh: MeshOfFakes) -> None:
    """As one that falls silent."""
    async with desk(mesh, breaks_off(GOOD + " Et pour finir, il", "cut")) as (doors, _):
        heard = await doors.ask_everywhere()

    assert "30 jours" in heard.text
    assert "pour finir" not in heard.text
    assert (heard.origin, heard.end) == ("MODEL", "INCOMPLETE")
    assert heard.stage[0] == "DEGRADED"


@pytest.mark.parametrize("ending", ["cut", "silent"])
async def test_a_model_that_is_lost_too_early_is_replaced(mesh: MeshOfFakes, ending: str) -> None:
    """Half a sentence without a citation is no answer."""
    reaction = breaks_off("Le délai de", ending, size=1_000)
    async with desk(mesh, reaction, idle_limit_s=0.3) as (doors, _):
        heard = await doors.ask_everywhere()

    assert heard.origin == "EXTRACTED"
    assert heard.stage[0] == "DEGRADED"


@pytest.mark.parametrize("reaction", [says_nothing(), reply({"error": "no"}, 500)])
async def test_a_model_that_gives_nothing_is_replaced(
    mesh: MeshOfFakes, reaction: Reaction
) -> None:
    """Whether it fails or answers without a word."""
    async with desk(mesh, reaction) as (doors, _):
        heard = await doors.ask_everywhere()

    assert heard.origin == "EXTRACTED"
    assert heard.stage[0] == "DEGRADED"
    assert heard.tokens == (0, 0)


async def test_the_next_model_takes_the_place_of_one_that_fails(mesh: MeshOfFakes) -> None:
    """As long as nothing has been given out; the receipt names who wrote."""
    second = ScriptedChat(GOOD, name="second")
    async with desk(mesh, breaks_off("", "cut"), behind=[second]) as (doors, _):
        heard = await doors.ask_everywhere()

    assert (heard.origin, heard.stage) == ("MODEL", ("RAN", ""))
    assert heard.cited == [(1, "returns.md"), (2, "scale.md")]
    assert len(second.requests) == len(DOORS)


async def test_an_answer_that_is_cut_ends_with_a_sentence(mesh: MeshOfFakes) -> None:
    """At the cap of tokens, the sentence that was begun is left out and the end is typed."""
    text = GOOD + " Les palettes entam"
    async with desk(mesh, says(text, finish_reason="length")) as (doors, _):
        heard = await doors.ask_everywhere()

    assert heard.text.endswith("[2].")
    assert (heard.origin, heard.end, heard.refusal) == ("MODEL", "TRUNCATED", "")
    assert heard.stage == ("RAN", "")


async def test_without_a_chat_model_sources_are_quoted(mesh: MeshOfFakes) -> None:
    """Which is no loss, and marked all the same."""
    fill(mesh)
    async with answer_doors(mesh) as doors:
        heard = await doors.ask_everywhere()

    assert heard.origin == "EXTRACTED"
    assert heard.stage == ("SKIPPED", "NO_CHAT_MODEL")
    assert RETURNS[1].split(". ")[0] in heard.text
    assert (1, "returns.md") in heard.cited


async def test_the_daily_cost_cap_ends_paid_answers(mesh: MeshOfFakes) -> None:
    """The first answer reaches the cap, the second is quoted."""
    card = ModelCard("model-1", context_tokens=8192, price=TokenPrice(1e6, 1e6, "EUR"))
    async with desk(mesh, says(GOOD), daily_cap=1.0, card=card) as (doors, vendor):
        first = await doors.ask("grpc")
        second = await doors.ask_everywhere()

    assert first.origin == "MODEL"
    assert_extracted(second, "DAILY_COST_CAP_REACHED")
    assert len(vendor.received) == 1


async def test_models_leave_time_for_what_takes_their_place(mesh: MeshOfFakes) -> None:
    """One that uses up its time has not used up the caller's."""
    hung = ScriptedChat(DeadlineExceeded("its share is over"))
    fill(mesh)
    mesh.models = AnswerModels(ChatChain([hung]), CostLedger(None), idle_limit_s=30.0)
    deadline = Deadline.after(60.0)
    with narrowed_deadline(60.0):
        answer = await whole_answer(mesh.application().answers.answer(Question("negoce", QUESTION)))

    (given,) = hung.deadlines
    assert given is not None
    assert given.at < deadline.at - 1.0
    assert answer.outcome.origin is AnswerOrigin.EXTRACTED
    assert answer.outcome.receipt.stages[-1].reason == "DEADLINE_EXCEEDED"
