"""A workspace is embedded again beside the present space, switched in one step, and switched back.

Retriever and embedder are behind sockets; the spaces of the embedder are rotations of each other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from chassis.errors import FailedPrecondition, InvalidArgument, ServiceError, Unavailable
from gateway.documents import VectorBlock
from gateway.pipeline import Retrieval
from gateway.receipt import StageOutcome
from gateway.reembedding import (
    GateVerdict,
    LabelledQuestion,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    ReembeddingRequest,
    SwitchGate,
)
from gateway.spaces import PassageVectorsPut
from tests.fakes.embedder import fake_vectors
from tests.fakes.spaces_bench import FIRST, SECOND, SpacesBench, open_bench

TEXTS = ("le quai nord", "un navire au large", "la grue du port", "les douanes", "une escale")
QUESTIONS = tuple(LabelledQuestion(text, ("a",)) for text in TEXTS)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SpacesBench]:
    """A workspace of five passages in the first of two spaces."""
    async with open_bench(tmp_path, FIRST, SECOND) as opened:
        await opened.take_in("a", *TEXTS)
        yield opened


def lists_of(found: Retrieval) -> set[str]:
    """Returns the lists that hold the best hit."""
    return {place.list_name for place in found.hits[0].list_places}


async def test_a_workspace_moves_and_can_be_moved_back(bench: SpacesBench) -> None:
    """The old space rests after the switch, so that the undo needs no embedding; a drop ends it."""
    plan, *progress, outcome = await bench.reembed()
    switched = await bench.search("navire")
    embedded = len(bench.embedded_documents())
    await bench.retriever.switch_space("w", FIRST, require_complete=True)
    undone = await bench.search("navire")
    dropped = await bench.retriever.drop_space("w", SECOND)

    assert plan == ReembeddingPlan(
        FIRST, SECOND, "second", "model", 5, 5, sum(len(text.split()) for text in TEXTS), 0.0, "EUR"
    )
    assert [one.done_passage_count for one in progress if isinstance(one, ReembeddingProgress)] == [
        2,
        4,
        5,
    ]
    assert outcome == ReembeddingOutcome(
        switched=True, previous_space_id=FIRST, preferred_space_id=SECOND
    )
    assert lists_of(switched) == {"bm25", SECOND}
    assert lists_of(undone) == {"bm25", FIRST}
    assert len(bench.embedded_documents()) == embedded == 2 * len(TEXTS)
    assert dropped.vector_count == len(TEXTS)
    assert await bench.counts() == {FIRST: len(TEXTS)}


async def test_a_dry_run_embeds_nothing_and_says_what_it_would_cost(bench: SpacesBench) -> None:
    """Passages that the space holds already are not in the price."""
    bench.embedder.price_per_million_tokens = 2.0
    calls = len(bench.embedder.requests)
    (plan,) = await bench.reembed(dry_run=True)
    calls_after = len(bench.embedder.requests)
    async with aclosing(bench.reembedding().reembed(ReembeddingRequest("w", SECOND))) as events:
        await anext(events)
        await anext(events)
    (rest,) = await bench.reembed(dry_run=True)

    assert isinstance(plan, ReembeddingPlan)
    assert isinstance(rest, ReembeddingPlan)
    assert calls == calls_after
    assert plan.cost_estimate == pytest.approx(plan.token_estimate * 2.0 / 1e6)
    assert (rest.awaiting_passage_count, rest.passage_count) == (3, 5)
    assert rest.token_estimate < plan.token_estimate


async def test_tokens_are_estimated_by_the_rate_of_the_new_model(bench: SpacesBench) -> None:
    """Passages were measured with that of the model they are in."""
    (plain,) = await bench.reembed(dry_run=True)
    bench.embedder.token_rates = {FIRST: 0.25, SECOND: 0.75}
    (dense,) = await bench.reembed(dry_run=True)

    assert isinstance(plain, ReembeddingPlan)
    assert isinstance(dense, ReembeddingPlan)
    assert dense.token_estimate == 3 * plain.token_estimate


async def test_a_call_that_was_cut_off_goes_on_where_it_ended(bench: SpacesBench) -> None:
    """Nothing is embedded twice, and the present space answers all the while."""
    async with aclosing(bench.reembedding().reembed(ReembeddingRequest("w", SECOND))) as events:
        await anext(events)
        await anext(events)
    between = await bench.search("navire")
    *_, outcome = await bench.reembed()

    assert lists_of(between) == {"bm25", FIRST}
    assert isinstance(outcome, ReembeddingOutcome)
    assert outcome.switched
    assert len(bench.embedded_documents()) == 2 * len(TEXTS)


async def test_an_outage_meanwhile_is_waited_for(bench: SpacesBench) -> None:
    """Progress goes on when the provider is back; one that stays away ends the call."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            bench.embedder.recover()

    events = bench.reembedding(pause=pause).reembed(ReembeddingRequest("w", SECOND))
    async with aclosing(events):
        await anext(events)
        await anext(events)
        bench.embedder.break_down(SECOND)
        rest = [event async for event in events]
        bench.embedder.break_down(FIRST)
        back = bench.reembedding(pause=pause).reembed(ReembeddingRequest("w", "first"))
        with pytest.raises(Unavailable):
            await anext(back)

    assert pauses == [1.0, 2.0]
    assert isinstance(rest[-1], ReembeddingOutcome)
    assert len(bench.embedded_documents()) == 2 * len(TEXTS)


async def test_nothing_is_switched_before_all_is_embedded_however_often_it_breaks(
    bench: SpacesBench,
) -> None:
    """A vendor that answers one call and fails the next still gets everything done."""
    await bench.take_in("b", *(f"balise {number}" for number in range(20)))

    async def pause(seconds: float) -> None:
        bench.embedder.recover()

    reembedding = bench.reembedding(batch_size=1, pause=pause)
    told: list[object] = []
    async with aclosing(reembedding.reembed(ReembeddingRequest("w", SECOND))) as events:
        async for event in events:
            told.append(event)
            bench.embedder.break_down(SECOND)

    assert isinstance(told[-1], ReembeddingOutcome)
    assert told[-1].switched
    assert await bench.counts() == {FIRST: 25, SECOND: 25}


async def test_passages_that_come_in_meanwhile_are_not_forgotten(bench: SpacesBench) -> None:
    """They are in the new space before the switch."""
    events = bench.reembedding().reembed(ReembeddingRequest("w", SECOND))
    async with aclosing(events):
        await anext(events)
        await anext(events)
        await bench.take_in("b", "un phare", "une bouée")
        *_, outcome = [event async for event in events]

    assert isinstance(outcome, ReembeddingOutcome)
    assert outcome.switched
    assert await bench.counts() == {FIRST: 7, SECOND: 7}


async def test_a_text_that_the_new_model_refuses_stays_findable_where_it_is(
    bench: SpacesBench,
) -> None:
    """The old space goes on being searched for its sake."""
    bench.embedder.refused_words = {"douanes"}
    *_, outcome = await bench.reembed()
    bench.embedder.refused_words = set()
    found = await bench.search("douanes")

    assert isinstance(outcome, ReembeddingOutcome)
    assert (outcome.switched, outcome.refused_passage_count) == (True, 1)
    assert lists_of(found) == {"bm25", FIRST}


async def test_the_old_space_can_be_given_up_in_spite_of_a_refused_text(
    bench: SpacesBench,
) -> None:
    """Words alone find the text then; no search needs the old model any more."""
    bench.embedder.refused_words = {"douanes"}
    await bench.reembed()
    bench.embedder.refused_words = set()
    with pytest.raises(FailedPrecondition) as refused:
        await bench.retriever.drop_space("w", FIRST)
    await bench.retriever.drop_space("w", FIRST, leave_waiting=True)
    bench.embedder.break_down(FIRST)
    found = await bench.search("douanes")

    assert refused.value.reason == "SPACE_NEEDED"
    assert "1 passage that the preferred space lacks" in str(refused.value)
    assert await bench.counts() == {SECOND: len(TEXTS) - 1}
    assert found.hits[0].fused.passage.text == "les douanes"
    assert lists_of(found) == {"bm25"}
    assert bench.reports["embed"].outcome is StageOutcome.RAN


async def test_a_gate_that_both_spaces_pass_lets_the_switch_through(bench: SpacesBench) -> None:
    """Rotations of each other find the same, in the same order."""
    *_, verdict, outcome = await bench.reembed(gate=SwitchGate(QUESTIONS, 3, min_overlap=1.0))

    assert verdict == GateVerdict(5, 3, overlap=1.0, old_hit_rate=1.0, new_hit_rate=1.0)
    assert isinstance(outcome, ReembeddingOutcome)
    assert outcome.switched


async def test_a_worse_space_is_not_switched_to(bench: SpacesBench) -> None:
    """The numbers are told, and the filled space stays for a decision of a person.

    The question is a stop word, so that vectors alone find; those of the new space are mixed up.
    """
    await bench.take_in("b", "dans le bassin dans")
    await _fill_wrongly(bench)
    gate = SwitchGate((LabelledQuestion("dans", ("b",)),), 1, min_overlap=0.5, max_hit_loss=0.2)
    *_, verdict, outcome = await bench.reembed(gate=gate)

    assert isinstance(verdict, GateVerdict)
    assert (verdict.overlap, verdict.old_hit_rate, verdict.new_hit_rate) == (0.0, 1.0, 0.0)
    assert "overlap 0.000 is below 0.5" in verdict.detail
    assert "falls from 1.000 to 0.000" in verdict.detail
    assert isinstance(outcome, ReembeddingOutcome)
    assert (outcome.switched, outcome.preferred_space_id) == (False, FIRST)
    assert outcome.detail == verdict.detail
    assert await bench.counts() == {FIRST: 6, SECOND: 6}


async def _fill_wrongly(bench: SpacesBench) -> None:
    """Gives every passage the vector of its neighbour in the second space."""
    await bench.retriever.lease_space("w", SECOND, "wrong", 60)
    page = await bench.retriever.list_passages_awaiting("w", SECOND)
    texts = [f"Le port\n{one.passage.text}" for one in page.passages]
    block = VectorBlock(SECOND, np.roll(fake_vectors(SECOND, *texts), 1, axis=0))
    await bench.retriever.put_vectors("w", PassageVectorsPut(page.passages, block, "wrong"))
    await bench.retriever.lease_space("w", SECOND, "wrong", 0)


async def test_what_cannot_be_done_is_said_before_anything_is_paid(bench: SpacesBench) -> None:
    """Unknown targets name what there is; a workspace without passages has nothing to embed."""
    with pytest.raises(InvalidArgument, match=r"first \(first/model"):
        await bench.reembed("third")
    await bench.retriever.delete_document("w", "a")
    with pytest.raises(FailedPrecondition, match="no passages"):
        await bench.reembed()
    bench.embedder.break_down(SECOND)
    with pytest.raises(ServiceError) as refused:
        await bench.reembed()

    assert refused.value.reason == "PROVIDER_UNAVAILABLE"


async def test_the_preferred_space_is_completed_without_a_switch(bench: SpacesBench) -> None:
    """Naming it again fills what it lacks."""
    bench.embedder.break_down()
    await bench.take_in("b", "un phare")
    bench.embedder.recover()
    *_, outcome = await bench.reembed("first")

    assert isinstance(outcome, ReembeddingOutcome)
    assert (outcome.switched, outcome.preferred_space_id) == (False, FIRST)
    assert await bench.counts() == {FIRST: 6}
