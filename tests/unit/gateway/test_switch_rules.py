"""Which value counts for a query: that of its workspace, of a rollout, or of the table."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.switches.rules import CONTROL, Rollout, SwitchRules
from gateway.switches.values import HYBRID_CANDIDATES, QUERY_REWRITE, RERANKING, SwitchValues

texts = st.text(max_size=20)
percents = st.floats(0.001, 100)


@settings(derandomize=True, max_examples=200)
@given(texts, texts, percents, percents)
def test_a_higher_percentage_reaches_whom_a_lower_one_did(
    workspace: str, query: str, one: float, other: float
) -> None:
    """So that nobody who has met a feature loses it while it is rolled out further."""
    low, high = sorted((one, other))
    reached = [
        Rollout(RERANKING.key, False, percent).reaches(workspace, query) for percent in (low, high)
    ]

    assert reached in ([False, False], [False, True], [True, True])
    assert Rollout(RERANKING.key, False, 100).reaches(workspace, query)


def test_a_share_is_as_large_as_said_and_the_same_on_every_replica() -> None:
    """The first queries that 20 percent reach are written down: another hash would move people."""
    rollout = Rollout(RERANKING.key, False, 20)
    reached = [number for number in range(2_000) if rollout.reaches("w", f"question {number}")]

    assert 340 <= len(reached) <= 460
    assert reached[:5] == [4, 5, 13, 16, 19]


def test_rollouts_of_two_switches_are_independent() -> None:
    """Otherwise the effect of one could not be told from that of the other."""
    one, other = (Rollout(each.key, False, 50) for each in (RERANKING, QUERY_REWRITE))
    both = sum(one.reaches("w", f"q{n}") and other.reaches("w", f"q{n}") for n in range(2_000))

    assert 400 <= both <= 600


def test_an_override_counts_before_a_rollout_before_the_table() -> None:
    """And only in its workspace; the variant names what rollouts did, not overrides."""
    rules = SwitchRules(
        overrides={"a": {RERANKING.key: True, HYBRID_CANDIDATES.key: 50}},
        rollouts={
            RERANKING.key: Rollout(RERANKING.key, False, 100),
            QUERY_REWRITE.key: Rollout(QUERY_REWRITE.key, False, 100),
        },
    )
    table = SwitchValues(hybrid_candidate_count=30)

    own, other = (rules.choice(table, workspace, "q") for workspace in ("a", "b"))

    assert own.values == SwitchValues(query_rewrite_enabled=False, hybrid_candidate_count=50)
    assert own.variant == "rag_query_rewrite_enabled=false"
    assert other.values == SwitchValues(
        query_rewrite_enabled=False, reranking_enabled=False, hybrid_candidate_count=30
    )
    assert other.variant == "rag_reranking_enabled=false,rag_query_rewrite_enabled=false"


def test_a_query_that_is_not_reached_is_the_control() -> None:
    """Without a rollout there is no variant at all."""
    rules = SwitchRules(rollouts={RERANKING.key: Rollout(RERANKING.key, False, 1e-9)})

    assert rules.choice(SwitchValues(), "w", "q").variant == CONTROL
    assert SwitchRules().choice(SwitchValues(), "w", "q").variant == ""
