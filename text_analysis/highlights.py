"""Finds where a text holds terms of a question, in code points of the text as it is written."""

from collections.abc import Sequence
from functools import lru_cache

from text_analysis.tokens import Analyzer


class Highlighter:
    """Knows the terms of some wordings of a question; each language analyses them for itself."""

    def __init__(self, wordings: Sequence[str]) -> None:
        self._wordings = tuple(wordings)
        self._terms: dict[str, frozenset[str]] = {}

    def spans(self, text: str, language: str) -> list[tuple[int, int]]:
        """Returns the spans `[start, end)` of terms, in order, without overlap.

        `text[start:end]`, analysed by itself, always gives a term of the question. A form that
        stands for a term only in its place (the `n` of `n'est`, which means `ne`) is left out.
        Raises ValueError for a language without an analyzer.
        """
        analyzer = _analyzer(language)
        wanted = self._wanted(language)
        spans: list[tuple[int, int]] = []
        for token in analyzer.analyze(text):
            if token.term not in wanted:
                continue
            if token.term not in analyzer.terms(text[token.start : token.end]):
                continue
            if spans and token.start < spans[-1][1]:
                # Bigrams of one run, or an identifier and its parts.
                spans[-1] = (spans[-1][0], max(spans[-1][1], token.end))
            else:
                spans.append((token.start, token.end))
        return spans

    def _wanted(self, language: str) -> frozenset[str]:
        terms = self._terms.get(language)
        if terms is None:
            analyzer = _analyzer(language)
            terms = frozenset(term for text in self._wordings for term in analyzer.terms(text))
            self._terms[language] = terms
        return terms


@lru_cache
def _analyzer(language: str) -> Analyzer:
    return Analyzer(language)
