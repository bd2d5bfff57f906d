"""Terms as Milvus takes them, and the best of a sum of its lists."""

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retriever_svc.milvus.collections.term_tokens import token_of, token_text
from retriever_svc.milvus.searching.search_view import SearchView
from retriever_svc.milvus.searching.term_scores import TermScores

BOOSTS = {"title": 2.0, "keywords": 1.5, "body": 1.0}
TERMS = st.text(st.characters(codec="utf-8", exclude_characters=" "), min_size=1, max_size=6)


class ScoredParts:
    """Stands in for Milvus: ranks given scores, of all or of those named in the expression."""

    def __init__(self, scores: dict[str, dict[int, float]]) -> None:
        self._scores = scores
        self.searches = 0

    def search(
        self, name: str, field: str, query: str, *, limit: int, condition: str, **_: Any
    ) -> dict[int, float]:
        """Returns the best of one part, ties in no useful order."""
        self.searches += 1
        scores = self._scores[field]
        if condition:
            chosen = set(map(int, re.findall(r"\d+", condition)))
            scores = {one: score for one, score in scores.items() if one in chosen}
        ordered = sorted(scores.items(), key=lambda hit: (-hit[1], -hit[0]))
        return dict(ordered[:limit])


class PartsView:
    """Stands in for a view of them."""

    terms_name = "terms"
    boosts = BOOSTS

    def __init__(self, scores: dict[str, dict[int, float]]) -> None:
        self.milvus = ScoredParts(scores)
        self.side_by_side = self

    def calls(self, made: Sequence[Callable[[], Any]]) -> list[Any]:
        """Makes calls one after the other."""
        return [one() for one in made]


def best_of(scores: dict[str, dict[int, float]], count: int) -> tuple[Any, int]:
    """Returns the hits of some query, and how many searches they took."""
    view = PartsView(scores)
    hits = TermScores(cast(SearchView, view)).best({"fr": ["mot"]}, count)
    return hits, view.milvus.searches


def summed(scores: dict[str, dict[int, float]]) -> list[tuple[int, float]]:
    """Returns every passage with its whole score, best first."""
    total: dict[int, float] = {}
    for part, boost in BOOSTS.items():
        for one, score in scores[part].items():
            total[one] = total.get(one, 0.0) + boost * score
    return sorted(total.items(), key=lambda hit: (-hit[1], hit[0]))


PART = st.dictionaries(st.integers(1, 400), st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0]))


@given(title=PART, keywords=PART, body=PART, count=st.integers(1, 5))
@settings(derandomize=True, deadline=None)
def test_an_exact_list_holds_the_best_sums(
    title: dict[int, float], keywords: dict[int, float], body: dict[int, float], count: int
) -> None:
    """Whichever lists a passage stands in; and where a list is not exact it says so."""
    scores = {"title": title, "keywords": keywords, "body": body}
    hits, _ = best_of(scores, count)
    expected = summed(scores)

    if hits.exact:
        wanted = [score for _, score in expected[:count]]
        assert list(hits.best.values()) == pytest.approx(wanted)
    assert hits.known == pytest.approx({one: dict(expected)[one] for one in hits.known})
    if hits.complete:
        assert hits.exact
        assert list(hits.best) == [one for one, _ in expected[:count]]


def test_lists_are_read_on_until_nothing_better_can_follow() -> None:
    """The best sum stands in the middle of every list."""
    middle = 1_000_000
    title = {one: 1_000.0 - one for one in range(0, 900, 2)} | {middle: 930.0}
    body = {one: 1_000.0 - one for one in range(1, 900, 2)} | {middle: 930.0}
    scores = {"title": title, "keywords": {}, "body": body}
    hits, searches = best_of(scores, 1)

    assert list(hits.best) == [middle]
    assert hits.exact
    assert not hits.complete
    assert searches > 3


@given(one=TERMS, other=TERMS)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_tokens_are_whole_and_differ_as_terms_do(one: str, other: str) -> None:
    """Only small Latin letters and digits, in every language, whatever the term."""
    tokens = {
        (term, language): token_of(term, language)
        for term in (one, other)
        for language in ("fr", "en")
    }

    assert all(re.fullmatch("[a-z0-9]+", token) for token in tokens.values())
    assert len(set(tokens.values())) == len(tokens)


def test_a_text_that_is_too_long_keeps_its_different_terms() -> None:
    """Repetitions go first."""
    terms = ["a"] * 50 + ["b", "c"] + ["b"] * 50
    text = token_text(terms, "fr", longest=30)

    assert len(text) <= 30
    assert set(text.split()) == {"fra", "frb", "frc"}
    assert token_text(["a", "b", "a"], "fr") == "fra frb fra"
