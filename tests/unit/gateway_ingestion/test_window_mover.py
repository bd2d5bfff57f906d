"""Windows follow the documents that were taken in without them.

Retriever and embedder are behind sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.ingestion.embedding_calls import EmbeddingCalls
from tests.fakes.chained_embedder import ChainedEmbedder
from tests.fakes.clock import FakeClock
from tests.fakes.spaces_bench import FIRST, SECOND, TITLE, SpacesBench, open_bench

LONG = "Le quai est plein. Le navire attend. La grue tourne."
OTHER = "Une escale commence. La douane passe. Il pleut."
SHORT = "Le quai. Le port."


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SpacesBench]:
    """Two providers that work and recommend windows; nothing is stored."""
    async with open_bench(tmp_path, FIRST, SECOND) as opened:
        opened.embedder.windows_recommended = True
        yield opened


async def windowed(bench: SpacesBench, query: str = "la grue tourne") -> dict[str, bool]:
    """Says of every passage that a search finds whether it has windows."""
    found = await bench.search(query)
    return {
        hit.fused.passage.text: hit.fused.space_scores[0].best_window_cosine is not None
        for hit in found.hits
    }


def windows_sent(bench: SpacesBench) -> list[str]:
    """The texts of windows that were embedded: shorter than the passages they come from."""
    whole = {f"{TITLE}\n{text}" for text in (LONG, OTHER, SHORT)}
    return [text for text in bench.embedded_documents() if text not in whole]


async def test_windows_follow_and_count_in_searches(bench: SpacesBench) -> None:
    """The document is found before, its windows come once, and a short passage has none."""
    await bench.take_in("a", LONG, SHORT)
    before = await windowed(bench)
    mover = bench.window_mover()
    moved, again = await mover.move_all(), await mover.move_all()

    assert before == {LONG: False, SHORT: False}
    assert (moved, again) == (2, 0)
    assert await windowed(bench) == {LONG: True, SHORT: False}
    assert windows_sent(bench) == [
        f"{TITLE}\nLe quai est plein. Le navire attend.",
        f"{TITLE}\nLa grue tourne.",
    ]


async def test_only_what_is_new_gets_windows(bench: SpacesBench) -> None:
    """Whatever was settled before is not embedded again, also by another mover."""
    await bench.take_in("a", LONG)
    mover = bench.window_mover()
    await mover.move_all()
    sent = len(windows_sent(bench))
    await bench.take_in("b", OTHER)
    moved = await mover.move_all()
    fresh = await bench.window_mover().move_all()

    assert (moved, fresh) == (1, 0)
    assert len(windows_sent(bench)) == sent + 2
    assert await windowed(bench) == {LONG: True, OTHER: True}


async def test_all_pages_are_gone_through(bench: SpacesBench) -> None:
    """However many passages wait; the metrics count them."""
    texts = [f"Quai {n}. Navire {n}. Grue {n}." for n in range(5)]
    await bench.take_in("a", *texts)

    assert await bench.window_mover(batch_size=2).move_all() == 5
    registry = bench.metrics.registry
    assert registry.get_sample_value("ingestion_windowed_passages_total") == 5
    assert registry.get_sample_value("ingestion_passages_awaiting_windows") == 0


async def test_a_provider_that_does_not_recommend_windows_is_not_asked(bench: SpacesBench) -> None:
    """Nor is one whose space rests: no search looks there."""
    bench.embedder.windows_recommended = False
    await bench.take_in("a", LONG)

    assert await bench.window_mover().move_all() == 0
    assert windows_sent(bench) == []


async def test_resting_spaces_get_no_windows(bench: SpacesBench) -> None:
    """No search looks there, so nothing is paid for them."""
    await bench.take_in("a", LONG)
    async for _ in bench.filling().fill(await bench.workspace(), SECOND, leave_others=False):
        pass

    assert await bench.window_mover().move_all() == 1
    assert {request.space_id for request in bench.embedder.requests[2:]} == {FIRST}


async def test_a_lost_embedder_leaves_windows_for_later(bench: SpacesBench) -> None:
    """The failure is counted; the next round makes up for it."""
    await bench.take_in("a", LONG)
    mover = bench.window_mover()
    bench.embedder.break_down(FIRST)
    during = await mover.move_all()
    bench.embedder.recover(FIRST)

    assert (during, await mover.move_all()) == (0, 1)
    failures = bench.metrics.registry.get_sample_value(
        "ingestion_window_failures_total", {"reason": "UNAVAILABLE"}
    )
    assert failures == 1


async def test_a_refused_window_is_not_sent_again(bench: SpacesBench) -> None:
    """The passage has its other windows; it is settled, and counted."""
    bench.embedder.refused_words = {"tourne."}
    await bench.take_in("a", "Le quai est plein. Le navire attend. La grue tourne .")
    bench.embedder.refused_words = {"tourne"}
    moved = await bench.window_mover().move_all()
    sent = len(windows_sent(bench))
    again = await bench.window_mover().move_all()

    assert (moved, again) == (1, 0)
    assert len(windows_sent(bench)) == sent
    name = "ingestion_incompletely_windowed_passages_total"
    assert bench.metrics.registry.get_sample_value(name) == 1


async def test_movers_side_by_side_pay_for_no_window_twice(bench: SpacesBench) -> None:
    """The lease lets one of them work at a time."""
    await bench.take_in("a", LONG, OTHER)
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(bench.window_mover(batch_size=1).move_all())

    assert len(windows_sent(bench)) == len(set(windows_sent(bench))) == 4


async def test_uploads_go_first(bench: SpacesBench) -> None:
    """Windows wait until no file has been embedded for a while."""
    await bench.take_in("a", LONG)
    idle = iter([0.0, 0.3, 2.0])
    asked: list[float] = []

    def uploads_idle_s() -> float:
        asked.append(next(idle))
        assert windows_sent(bench) == []
        return asked[-1]

    assert await bench.window_mover(uploads_idle_s=uploads_idle_s).move_all() == 1
    assert asked == [0.0, 0.3, 2.0]


async def test_calls_tell_how_long_none_was_under_way() -> None:
    """Nothing yet counts as long ago; one that waits for its turn is under way."""
    clock = FakeClock()
    calls = EmbeddingCalls(ChainedEmbedder(), clock=clock)
    before = calls.idle_s
    call = asyncio.create_task(calls.embed(["a"], None, "w"))
    await asyncio.sleep(0)
    during = calls.idle_s
    await call
    clock.now += 3.0

    assert (before, during, calls.idle_s) == (float("inf"), 0.0, 3.0)
