"""Figures, intervals, floors and losses, against values worked out by hand."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justesse.evaluation.answers import Answer, DocumentPlaces
from justesse.evaluation.comparison import Demand, comparisons
from justesse.evaluation.configurations import LADDER, configuration_named
from justesse.evaluation.figures import FIGURES, figures_of
from justesse.evaluation.floors import floors
from justesse.evaluation.judged_set import BadSetError, Question
from justesse.evaluation.losses import losses
from justesse.evaluation.significance import difference, estimate

SPACE = "embedded/model@1/384/l2/e5"


def answer(question_id: str, *documents: DocumentPlaces, cosine: float = 0.5) -> Answer:
    return Answer(question_id, documents, 1.0, {}, {SPACE: cosine})


def found(document: str, rank: int, fused: int, listed: int | None = 1) -> DocumentPlaces:
    return DocumentPlaces(document, rank, listed, None, fused)


def test_figures_are_those_of_their_definitions() -> None:
    """A grade of 2 at rank 2 and a grade of 1 at rank 4, one relevant document not found."""
    question = Question("q", "?", {"a": 2, "b": 1, "c": 1})
    values = figures_of([question], {"q": ["x", "a", "y", "b"]})

    gain = 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert {name: values[name]["q"] for name in FIGURES} == {
        "hit@1": 0.0,
        "hit@3": 1.0,
        "hit@10": 1.0,
        "recall@10": pytest.approx(2 / 3),
        "MRR@10": 0.5,
        "nDCG@10": pytest.approx(gain / ideal),
    }


def test_a_question_without_a_ranking_counts_as_missed() -> None:
    """It must not vanish from the mean; one without a label is not judged."""
    questions = [Question("a", "?", {"d": 1}), Question("b", "?", {"d": 1}), Question("c", "?", {})]
    values = figures_of(questions, {"a": ["d"], "c": ["d"]})

    assert values["hit@1"] == {"a": 1.0, "b": 0.0}


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.data())
def test_figures_agree_with_plain_loops(data: st.DataObject) -> None:
    """For any ranking and any labels."""
    names = [f"d{at}" for at in range(14)]
    ranking = data.draw(st.permutations(names))[: data.draw(st.integers(0, 14))]
    grades = {name: 1 for name in data.draw(st.sets(st.sampled_from(names), min_size=1))}
    values = figures_of([Question("q", "?", grades)], {"q": ranking})

    ranks = [rank for rank, name in enumerate(ranking, start=1) if name in grades]
    first = min(ranks, default=math.inf)
    for depth in (1, 3, 10):
        assert values[f"hit@{depth}"]["q"] == float(first <= depth)
    assert values["MRR@10"]["q"] == pytest.approx(1 / first if first <= 10 else 0.0)
    share = sum(rank <= 10 for rank in ranks) / len(grades)
    assert values["recall@10"]["q"] == pytest.approx(share)


def test_an_interval_is_that_of_the_normal_approximation_for_many() -> None:
    """For n questions with share p it reaches about 1.96 * sqrt(p * (1 - p) / n)."""
    estimated = estimate([1.0, 0.0] * 200)

    assert estimated.mean == 0.5
    assert estimated.high - estimated.low == pytest.approx(2 * 1.96 * 0.025, rel=0.1)
    assert estimate([1.0] * 9).low == 1.0
    with pytest.raises(ValueError, match="no value"):
        estimate([])


def test_differences_are_paired() -> None:
    """The same gain on every question is sure however much the questions differ."""
    chance = random.Random(1)
    baseline = [chance.random() for _ in range(60)]
    sure = difference([value + 0.01 for value in baseline], baseline)
    none = difference(baseline, baseline)
    noise = difference([chance.random() for _ in range(60)], baseline)

    assert sure.significant
    assert sure.mean == pytest.approx(0.01)
    assert not none.significant
    assert none.p_value == 1.0
    assert not noise.significant
    with pytest.raises(ValueError, match="cannot be paired"):
        difference([1.0], baseline)


def test_a_p_value_is_that_of_all_sign_changes() -> None:
    """Five wins and no loss: 2 of the 32 ways to toss the signs are as extreme."""
    gap = difference([1.0] * 5, [0.0] * 5)

    assert gap.p_value == pytest.approx(2 / 32, abs=0.02)


def test_floors_tell_unanswerable_questions() -> None:
    """The floor that keeps all, and one that gives up the lowest tenth."""
    questions = [Question(f"a{at}", "?", {"d": 1}) for at in range(10)]
    questions += [Question(f"u{at}", "?", {}) for at in range(4)]
    answers = {f"a{at}": answer(f"a{at}", cosine=0.80 + at / 100) for at in range(10)}
    answers |= {f"u{at}": answer(f"u{at}", cosine=0.79 + at / 200) for at in range(4)}

    whole, ninety = floors(questions, answers)

    assert (whole.space_id, whole.min_similarity, whole.kept) == (SPACE, 0.80, 1.0)
    assert whole.refused == 0.5
    assert (ninety.min_similarity, ninety.kept) == (0.81, 0.9)
    assert ninety.refused == 1.0
    assert floors(questions[:10], answers) == ()
    assert len(floors([questions[0], questions[10]], answers)) == 1


def test_losses_name_the_stage() -> None:
    """Those that fell furthest first; what did not fall is no loss."""
    names = ("same", "rerank", "fusion", "search", "gone", "never")
    questions = [Question(name, f"{name} ?", {"d": 1}) for name in names]
    before = {name: answer(name, found("d", 1, 1)) for name in names[:-1]}
    now = {
        "same": answer("same", found("d", 1, 4)),
        "rerank": answer("rerank", found("d", 5, 2)),
        "fusion": answer("fusion", found("d", 3, 3, listed=1)),
        "search": answer("search", found("d", 2, 2, listed=2)),
        "gone": answer("gone", found("x", 1, 1)),
    }

    assert [(each.question_id, each.stage) for each in losses(questions, before, now)] == [
        ("gone", "search"),
        ("rerank", "rerank"),
        ("fusion", "fusion"),
        ("search", "search"),
    ]


def test_two_runs_are_compared_on_what_they_share() -> None:
    """Questions that only one of them has do not count."""
    before = {"hybrid": {"hit@1": {"a": 1.0, "b": 0.0, "c": 1.0}}, "dense": {"hit@1": {"a": 1.0}}}
    now = {"hybrid": {"hit@1": {"a": 1.0, "b": 1.0}}}

    [compared] = comparisons(before, now)

    assert (compared.configuration, compared.question_count) == ("hybrid", 2)
    assert (compared.before, compared.now) == (0.5, 1.0)
    with pytest.raises(BadSetError, match="share no configuration"):
        comparisons(before, {"other": {}})


def test_configurations_are_named_by_their_features() -> None:
    """What is not named is switched off; current changes nothing."""
    assert configuration_named("current").switches == {}
    assert set(configuration_named("dense").switches.values()) == {"false"}
    assert configuration_named("hybrid+reranking").switches == {
        "rag_query_rewrite_enabled": "false",
        "rag_hybrid_search_enabled": "true",
        "rag_reranking_enabled": "true",
    }
    assert [sum(v == "true" for v in configuration_named(n).switches.values()) for n in LADDER] == [
        0,
        1,
        2,
        3,
    ]
    with pytest.raises(ValueError, match="'magic'"):
        configuration_named("hybrid+magic")


@pytest.mark.parametrize("text", ["hit@3", "hit@2=0.5", "hit@1=2", "hit@1=high", "=1"])
def test_a_demand_names_a_figure_and_a_share(text: str) -> None:
    """Anything else is told in words."""
    assert Demand.parsed("hit@3=0.9") == Demand("hit@3", 0.9)
    with pytest.raises(ValueError, match=r"names none of|must end with a number"):
        Demand.parsed(text)
