"""BM25 over all passages of a plain workspace, computed anew for each search.

score = sum over terms and fields of boost * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * l / a)),
idf = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2, b = 0.75; l is the field's length in terms, a its
average over all N passages, n the count of those whose field holds the term. Titles (with headings)
and keywords count as 12 terms long at least.
"""

import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from tests.fakes.plain_engine.plain_workspace import PlainPassage, PlainWorkspace
from text_analysis.language import detect_language
from text_analysis.tokens import Analyzer

_K1, _B = 1.2, 0.75
_BOOSTS = {"title": 2.0, "keywords": 1.5, "body": 1.0}
_SHORT_LENGTH = 12


@lru_cache
def _analyzer(language: str) -> Analyzer:
    return Analyzer(language)


class PlainBm25:
    """Scores passages by the terms of one state of a workspace."""

    def __init__(self, workspace: PlainWorkspace) -> None:
        self._languages = workspace.languages
        self._fields: dict[int, dict[tuple[str, str], Counter[str]]] = {
            passage_id: self._fields_of(workspace, passage)
            for passage_id, passage in workspace.passages.items()
        }
        count = len(self._fields)
        self._frequencies: dict[tuple[str, str], Counter[str]] = {}
        totals: Counter[tuple[str, str]] = Counter()
        for fields in self._fields.values():
            for name, terms in fields.items():
                totals[name] += _length(name, terms)
                self._frequencies.setdefault(name, Counter()).update(terms.keys())
        self._averages = {name: total / count for name, total in totals.items()}

    def terms(self, text: str) -> dict[str, list[str]]:
        """Returns the different terms of a query by language, in order."""
        return {
            language: list(dict.fromkeys(_analyzer(language).terms(text)))
            for language in self._languages
        }

    def scores(self, query: dict[str, list[str]], passage_ids: Iterable[int]) -> dict[int, float]:
        """Returns the scores, over 0, of those of the passages that hold a term."""
        scored = {one: self._score(query, one) for one in passage_ids if one in self._fields}
        return {passage_id: score for passage_id, score in scored.items() if score > 0}

    def share(self, query: dict[str, list[str]], passage_id: int) -> float | None:
        """Returns the share of the query's terms that a passage holds; None without terms."""
        shares = []
        for language, terms in query.items():
            held: set[str] = set()
            for (_, of_language), counts in self._fields[passage_id].items():
                if of_language == language:
                    held |= counts.keys()
            if terms:
                shares.append(len(held & set(terms)) / len(terms))
        return max(shares, default=None)

    def _score(self, query: dict[str, list[str]], passage_id: int) -> float:
        return sum(
            self._part(name, term, counts)
            for name, counts in self._fields[passage_id].items()
            for term in query[name[1]]
            if term in counts
        )

    def _part(self, name: tuple[str, str], term: str, counts: Counter[str]) -> float:
        holding = self._frequencies[name][term]
        idf = math.log(1 + (len(self._fields) - holding + 0.5) / (holding + 0.5))
        relative = _length(name, counts) / self._averages[name]
        saturated = counts[term] / (counts[term] + _K1 * (1 - _B + _B * relative))
        return _BOOSTS[name[0]] * idf * (_K1 + 1) * saturated

    def _fields_of(
        self, workspace: PlainWorkspace, passage: PlainPassage
    ) -> dict[tuple[str, str], Counter[str]]:
        document = workspace.documents[passage.external_id].document
        text = passage.passage.text
        language = document.language
        if language not in self._languages:
            language = detect_language(text, self._languages)
        texts = {
            "title": "\n\n".join((document.title, *passage.passage.heading_path)),
            "keywords": "\n\n".join(document.keywords),
            "body": text,
        }
        terms = _analyzer(language).terms
        return {(part, language): Counter(terms(whole)) for part, whole in texts.items()}


def _length(name: tuple[str, str], counts: Counter[str]) -> int:
    return max(counts.total(), 0 if name[0] == "body" else _SHORT_LENGTH)
