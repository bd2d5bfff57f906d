"""A rewriter that has nothing to do is left alone for as long as it said, and no longer."""

from __future__ import annotations

import pytest

from chassis.errors import Unavailable
from gateway.glossary.entry import GlossaryEntry, MatchingEntries
from gateway.receipt import StageOutcome
from gateway.resting_rewriter import LONGEST_REST_S, RestingRewriter
from tests.fakes.clock import FakeClock
from tests.fakes.gateway_services.models import FakeRewriter


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


async def test_it_is_not_called_while_it_rests(clock: FakeClock) -> None:
    """Other queries of other workspaces come back whole, with the reason it gave, at once."""
    rewriter = FakeRewriter(unchanged_for_s=10.0)
    resting = RestingRewriter(rewriter, clock=clock)
    asked = await resting.rewrite("combien de conteneurs", workspace="negoce")
    clock.now += 9.9
    spared = await resting.rewrite("quelle taxe", workspace="douane", language="fr")

    assert [query for query, _, _ in rewriter.calls] == ["combien de conteneurs"]
    assert (spared.query, spared.standalone_question) == ("quelle taxe", "quelle taxe")
    assert spared.report.outcome is StageOutcome.SKIPPED
    assert (spared.report.reason, spared.report.detail) == (
        asked.report.reason,
        asked.report.detail,
    )
    assert spared.report.latency_ms == 0.0


async def test_a_model_that_comes_is_used_after_the_rest(clock: FakeClock) -> None:
    """The first query after the rest is rewritten, and so is each that follows."""
    rewriter = FakeRewriter(unchanged_for_s=10.0)
    resting = RestingRewriter(rewriter, clock=clock)
    await resting.rewrite("combien de conteneurs", workspace="negoce")
    rewriter.rewritten, rewriter.unchanged_for_s = "conteneurs nombre", 0.0
    clock.now += 10.0
    answers = [await resting.rewrite("combien", workspace="negoce") for _ in range(2)]

    assert [answer.query for answer in answers] == ["conteneurs nombre"] * 2
    assert len(rewriter.calls) == 3


async def test_no_word_of_a_rewriter_silences_it_for_good(clock: FakeClock) -> None:
    """It is asked again after a minute, whatever it said."""
    rewriter = FakeRewriter(unchanged_for_s=1e9)
    resting = RestingRewriter(rewriter, clock=clock)
    await resting.rewrite("combien", workspace="negoce")
    clock.now += LONGEST_REST_S
    await resting.rewrite("combien", workspace="negoce")

    assert len(rewriter.calls) == 2


async def test_a_lost_rewriter_is_asked_each_time(clock: FakeClock) -> None:
    """Its loss is the caller's to note; nothing is kept of it."""
    rewriter = FakeRewriter()
    rewriter.behaviour.error = Unavailable("the rewriter is lost")
    resting = RestingRewriter(rewriter, clock=clock)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await resting.rewrite("combien", workspace="negoce")

    assert len(rewriter.calls) == 2


async def test_a_query_with_glossary_entries_wakes_it_for_itself_alone(clock: FakeClock) -> None:
    """Entries need no model; the query after it is spared the hop again."""
    rewriter = FakeRewriter(unchanged_for_s=10.0)
    resting = RestingRewriter(rewriter, clock=clock)
    await resting.rewrite("combien", workspace="negoce")
    rewriter.rewritten, rewriter.unchanged_for_s = "mon bordereau", 0.0
    entries = MatchingEntries((GlossaryEntry("BL", ("bordereau",)),), 3)
    told = await resting.rewrite("mon BL", workspace="negoce", glossary=entries)
    spared = await resting.rewrite("combien", workspace="negoce")

    assert (told.query, spared.query) == ("mon bordereau", "combien")
    assert rewriter.glossaries[1:] == [entries]
