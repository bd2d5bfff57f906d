"""Passages taken in during an outage are findable at once, and moved when the provider is back.

Retriever and embedder are behind sockets; the spaces of the embedder are rotations of each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from chassis.errors import FailedPrecondition, ResourceExhausted
from gateway.ingestion.movers.space_leases import SpaceBusy
from gateway.pipeline import Retrieval
from gateway.receipt import StageOutcome
from tests.fakes.embedder import fake_vectors
from tests.fakes.spaces_bench import FIRST, SECOND, SpacesBench, open_bench

TEXTS = ("le quai nord", "un navire au large", "la grue du port", "les douanes", "une escale")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SpacesBench]:
    """Two providers that work; nothing is stored."""
    async with open_bench(tmp_path, FIRST, SECOND) as opened:
        yield opened


def lists_of(found: Retrieval) -> set[str]:
    """Returns the lists that hold the best hit."""
    return {place.list_name for place in found.hits[0].list_places}


def best(found: Retrieval) -> str:
    """Returns the text of the best hit."""
    return found.hits[0].fused.passage.text


async def test_an_outage_at_ingest_is_healed_later(bench: SpacesBench) -> None:
    """The document lies in the next provider's space and is found there; then it is moved, and
    nothing is left of the other space."""
    await bench.take_in("before", TEXTS[0])
    bench.embedder.break_down(FIRST)
    await bench.take_in("during", *TEXTS[1:3])
    during = await bench.search("navire")
    degraded = bench.reports["embed"]
    idle = await bench.mover().move_all()
    bench.embedder.recover(FIRST)
    moved = await bench.mover().move_all()
    after = await bench.search("navire")

    assert (best(during), lists_of(during)) == (TEXTS[1], {"bm25", SECOND})
    assert (degraded.outcome, degraded.reason) == (StageOutcome.DEGRADED, "UNAVAILABLE")
    assert FIRST in degraded.detail
    assert (idle, moved) == (0, 2)
    assert (best(after), lists_of(after)) == (TEXTS[1], {"bm25", FIRST})
    assert await bench.counts() == {FIRST: 3}
    assert bench.reports["embed"].outcome is StageOutcome.RAN


async def test_without_any_provider_passages_wait_and_are_found_by_words(
    bench: SpacesBench,
) -> None:
    """An empty workspace prefers the first provider that answers later."""
    bench.embedder.break_down()
    report = await bench.take_in("a", *TEXTS)
    found = await bench.search("douanes")
    bench.embedder.recover(SECOND)
    moved = await bench.mover().move_all()

    assert report.awaiting_passage_count == len(TEXTS)
    assert (best(found), lists_of(found)) == (TEXTS[3], {"bm25"})
    assert moved == len(TEXTS)
    assert (await bench.workspace()).preferred_space_id == SECOND
    assert await bench.counts() == {SECOND: len(TEXTS)}


async def test_a_provider_that_is_down_is_not_called(bench: SpacesBench) -> None:
    """Its state is asked for instead."""
    bench.embedder.break_down()
    await bench.take_in("a", *TEXTS)
    calls = len(bench.embedder.requests)

    assert await bench.mover().move_all() == 0
    assert len(bench.embedder.requests) == calls


async def test_a_killed_mover_is_followed_by_another_that_pays_for_nothing_twice(
    bench: SpacesBench,
) -> None:
    """What was stored stays; a lease that nobody prolongs keeps the next one waiting, no longer."""
    bench.embedder.break_down()
    await bench.take_in("a", *TEXTS)
    bench.embedder.recover()
    workspace = await bench.workspace()
    killed, next_one = bench.filling(batch_size=2), bench.filling(batch_size=2)
    async with aclosing(killed.fill(workspace, FIRST, leave_others=True)) as batches:
        first = await anext(batches)
        with pytest.raises(SpaceBusy):
            await anext(next_one.fill(workspace, FIRST, leave_others=True))
    stored = [
        batch.stored_count async for batch in next_one.fill(workspace, FIRST, leave_others=True)
    ]

    assert (first.stored_count, stored) == (2, [2, 1])
    assert len(bench.embedded_documents()) == len(TEXTS)
    assert await bench.counts() == {FIRST: len(TEXTS)}


async def test_movers_side_by_side_share_no_passage(bench: SpacesBench) -> None:
    """The lease lets one of them work on a space at a time."""
    bench.embedder.break_down()
    await bench.take_in("a", *TEXTS)
    bench.embedder.recover()
    movers = [bench.mover(batch_size=1) for _ in range(3)]
    async with asyncio.TaskGroup() as group:
        moving = [group.create_task(mover.move_all()) for mover in movers]

    assert sum(task.result() for task in moving) == len(TEXTS)
    assert len(bench.embedded_documents()) == len(TEXTS)


async def test_a_passage_that_is_replaced_meanwhile_keeps_its_own_vector(
    bench: SpacesBench,
) -> None:
    """The vector of the older text is not stored."""
    bench.embedder.break_down()
    await bench.take_in("a", TEXTS[0])
    bench.embedder.recover()
    with bench.embedder.holding():
        moving = asyncio.create_task(bench.mover().move_all())
        await bench.embedder.arrival(len(bench.embedder.requests) + 1)
        bench.embedder.break_down()
        replacing = asyncio.create_task(bench.take_in("a", TEXTS[1]))
        await bench.embedder.arrival(len(bench.embedder.requests) + 1)
    bench.embedder.recover()
    await asyncio.gather(moving, replacing)
    await bench.mover().move_all()
    found = await bench.search("navire")

    assert [hit.fused.passage.text for hit in found.hits] == [TEXTS[1]]
    assert await bench.counts() == {FIRST: 1}
    assert found.hits[0].fused.space_scores[0].cosine == pytest.approx(
        await cosine(bench, TEXTS[1], "navire"), abs=1e-5
    )


async def cosine(bench: SpacesBench, text: str, query: str) -> float:
    """Returns what the first model says of a passage and a query."""
    one, other = fake_vectors(FIRST, f"Le port\n{text}", query)
    return float(one @ other)


async def test_a_text_that_the_model_refuses_holds_up_no_other(bench: SpacesBench) -> None:
    """It is counted, stays findable by its words, and is not sent again and again."""
    bench.embedder.break_down()
    await bench.take_in("a", *TEXTS)
    bench.embedder.recover()
    bench.embedder.refused_words = {"douanes"}
    mover = bench.mover()
    moved = await mover.move_all()
    calls = len(bench.embedder.requests)
    again = await mover.move_all()
    found = await bench.search("douanes")

    assert (moved, again) == (len(TEXTS) - 1, 0)
    assert len(bench.embedder.requests) == calls + 1, "the query alone"
    assert best(found) == TEXTS[3]


async def test_a_drifted_model_moves_nothing(bench: SpacesBench) -> None:
    """Its vectors would not be comparable with those that are stored, so none is paid for."""
    await bench.take_in("a", TEXTS[0])
    bench.embedder.break_down()
    await bench.take_in("b", TEXTS[1])
    bench.embedder.recover()
    bench.embedder.drift(FIRST)
    mover = bench.mover()
    paid = len(bench.embedder.embedded_texts)

    assert await mover.move_all() == 0
    assert len(bench.embedder.embedded_texts) == paid
    assert await bench.counts() == {FIRST: 1}
    assert (
        bench.metrics.registry.get_sample_value(
            "ingestion_mover_failures_total", {"reason": "SPACE_DRIFTED"}
        )
        == 1
    )


async def test_a_drifted_model_answers_neither_queries_nor_uploads(bench: SpacesBench) -> None:
    """Words answer, the receipt names the space, and new documents lie in the next space."""
    await bench.take_in("a", TEXTS[0])
    bench.embedder.drift(FIRST)
    found = await bench.search("quai")
    await bench.take_in("b", TEXTS[1])

    assert (best(found), lists_of(found)) == (TEXTS[0], {"bm25"})
    assert bench.reports["embed"].outcome is StageOutcome.DEGRADED
    assert bench.reports["embed"].reason == "SPACE_DRIFTED"
    assert FIRST in bench.reports["embed"].detail
    assert await bench.counts() == {FIRST: 1, SECOND: 1}


async def test_the_retriever_refuses_a_drifted_model_that_the_embedder_let_through(
    bench: SpacesBench,
) -> None:
    """The canary that came with the first vectors is compared with every later one."""
    await bench.take_in("a", TEXTS[0])
    workspace = await bench.workspace()
    bench.embedder.break_down()
    await bench.take_in("b", TEXTS[1])
    bench.embedder.recover()
    bench.embedder.drift(FIRST)
    filling = bench.filling()
    nothing_kept = type(workspace)("w")
    with pytest.raises(FailedPrecondition) as refused:
        await anext(filling.fill(nothing_kept, FIRST, leave_others=True))

    assert refused.value.reason == "SPACE_DRIFTED"
    assert await bench.counts() == {FIRST: 1}


async def test_movers_make_windows_as_uploads_do(bench: SpacesBench) -> None:
    """Each moved passage gets the windows of its own document's title."""
    bench.embedder.break_down()
    await bench.take_in("a", "Un quai. Deux quais. Trois quais.")
    bench.embedder.recover()
    await bench.mover(windows=True).move_all()
    found = await bench.search("trois")

    assert bench.embedded_documents()[-2:] == [
        "Le port\nUn quai. Deux quais.",
        "Le port\nTrois quais.",
    ]
    assert found.hits[0].fused.space_scores[0].best_window_cosine is not None


async def test_a_workspace_that_may_not_pay_uses_the_next_space(bench: SpacesBench) -> None:
    """The upload lies in the next provider's space, and the receipt of a search says why."""
    await bench.take_in("a", TEXTS[0])
    capped = ResourceExhausted("the cap is reached", reason="DAILY_COST_CAP_REACHED")
    bench.embedder.break_down(FIRST, capped)
    await bench.take_in("b", TEXTS[1])
    found = await bench.search("navire")

    assert await bench.counts() == {FIRST: 1, SECOND: 1}
    assert lists_of(found) == {"bm25", SECOND}
    assert bench.reports["embed"].reason == "DAILY_COST_CAP_REACHED"
