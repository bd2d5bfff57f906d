"""BM25 over the parts of passages: score = sum over parts of boost times Milvus's score.

Milvus ranks one part at a time. The best of the sum are found as by Fagin's threshold algorithm
(Fagin, Lotem and Naor, PODS 2001): the lists are read so far that no passage beyond them could be
better, or up to a bound.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from retriever_svc.milvus.clients.milvus_connection import MOST_HITS
from retriever_svc.milvus.collections.condition_texts import one_of_ids
from retriever_svc.milvus.collections.term_tokens import token_text
from retriever_svc.milvus.searching.search_view import SearchView

_MARGIN = 8
_FIRST_FACTOR = 4
_WIDENING = 4
_WIDENINGS = 2
# Ids in one expression.
_MOST_IDS = 1_000


@dataclass(frozen=True, slots=True)
class TermHits:
    """Holds the best passages with their scores, over 0: best first, ties by id.

    Of passages beyond the last one some may score as much as it does.
    """

    best: Mapping[int, float] = field(default_factory=dict)
    known: Mapping[int, float] = field(default_factory=dict)
    """Scores of all passages that were looked at."""
    complete: bool = True
    """Whether no other passage of those asked about holds a term."""
    exact: bool = True
    """Whether no better passage may have been missed."""


class TermScores:
    """Finds and scores passages of one view by terms."""

    def __init__(self, view: SearchView) -> None:
        self._view = view

    def best(self, terms: Mapping[str, Sequence[str]], count: int, condition: str = "") -> TermHits:
        """Returns the best `count` passages that hold a term and fulfil the condition."""
        query = query_text(terms)
        if not query:
            return TermHits()
        fetched = min(MOST_HITS, count * _FIRST_FACTOR + _MARGIN)
        for widening in range(_WIDENINGS + 1):
            lists = self._all_parts(query, fetched, condition)
            complete = all(len(found) < fetched for found in lists.values())
            known = self._summed(query, lists, fetched)
            ordered = sorted(known.items(), key=lambda hit: (-hit[1], hit[0]))
            exact = complete or _last_of(ordered, count) >= self._ceiling(lists, fetched)
            if exact or widening == _WIDENINGS or fetched == MOST_HITS:
                break
            fetched = min(MOST_HITS, fetched * _WIDENING)
        return TermHits(dict(ordered[:count]), known, complete, exact)

    def of(
        self, terms: Mapping[str, Sequence[str]], passage_ids: Collection[int]
    ) -> dict[int, float]:
        """Returns the score of each of these passages that holds a term."""
        query = query_text(terms)
        ids = list(passage_ids)
        scores: dict[int, float] = {}
        for first in range(0, len(ids) if query else 0, _MOST_IDS):
            chosen = one_of_ids(ids[first : first + _MOST_IDS])
            for part, found in self._all_parts(query, _MOST_IDS, chosen).items():
                for passage_id, score in found.items():
                    more = self._view.boosts[part] * score
                    scores[passage_id] = scores.get(passage_id, 0.0) + more
        return scores

    def _all_parts(self, query: str, limit: int, condition: str) -> dict[str, dict[int, float]]:
        parts = list(self._view.boosts)
        calls = [partial(self._ranked, part, query, limit, condition) for part in parts]
        return dict(zip(parts, self._view.side_by_side.calls(calls), strict=True))

    def _ranked(self, part: str, query: str, limit: int, condition: str) -> dict[int, float]:
        view = self._view
        found = view.milvus.search(
            view.terms_name,
            part,
            query,
            limit=limit,
            condition=condition,
            params={"metric_type": "BM25"},
        )
        # Milvus Lite gives scores below 0, Milvus above.
        return {passage_id: abs(score) for passage_id, score in found.items() if score}

    def _summed(
        self, query: str, lists: Mapping[str, Mapping[int, float]], fetched: int
    ) -> dict[int, float]:
        everyone = set().union(*lists.values())
        total = dict.fromkeys(everyone, 0.0)
        for part, found in lists.items():
            missing = sorted(everyone - found.keys()) if len(found) >= fetched else []
            more = self._part_scores(part, query, missing)
            for passage_id, score in (*found.items(), *more.items()):
                total[passage_id] += self._view.boosts[part] * score
        return total

    def _part_scores(self, part: str, query: str, ids: Sequence[int]) -> dict[int, float]:
        scores: dict[int, float] = {}
        for first in range(0, len(ids), _MOST_IDS):
            chosen = one_of_ids(ids[first : first + _MOST_IDS])
            scores |= self._ranked(part, query, _MOST_IDS, chosen)
        return scores

    def _ceiling(self, lists: Mapping[str, Mapping[int, float]], fetched: int) -> float:
        """The most that a passage beyond all lists can score."""
        return sum(
            self._view.boosts[part] * min(found.values())
            for part, found in lists.items()
            if len(found) >= fetched
        )


def query_text(terms: Mapping[str, Sequence[str]]) -> str:
    """Returns the tokens of a query in all its languages."""
    return " ".join(
        token_text(of_language, language) for language, of_language in terms.items() if of_language
    )


def _last_of(ordered: Sequence[tuple[int, float]], count: int) -> float:
    return ordered[count - 1][1] if len(ordered) >= count else -1.0
