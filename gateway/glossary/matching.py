"""Finds the entries of a glossary that stand in a question or in what was said before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from gateway.glossary.entry import Glossary, GlossaryEntry, MatchingEntries
from gateway.glossary.term_forms import analysed, languages_of
from text_analysis.tokens import LANGUAGES

MAX_SENT_ENTRIES = 20
MAX_SENT_BYTES = 2_048
"""UTF-8 bytes of terms and synonyms, with a space after each."""

_Runs: TypeAlias = dict[str, list[tuple[tuple[str, ...], GlossaryEntry]]]


class GlossaryIndex:
    """The entries of one glossary by the first of their analysed words, in every language.

    Making one takes time in proportion to the glossary, finding entries to the text alone.
    """

    def __init__(self, glossary: Glossary) -> None:
        self.version = glossary.version
        self._runs = {language: _runs(glossary.entries, language) for language in LANGUAGES}

    def matching(
        self, texts: Iterable[str], workspace_language: str, max_bytes: int = MAX_SENT_BYTES
    ) -> MatchingEntries:
        """Returns entries whose words follow each other in a text, each once, at most 20.

        Entries of earlier texts come first, within a text those that stand earlier in it. Those
        that would pass `max_bytes` in all are left out.
        """
        found: dict[str, GlossaryEntry] = {}
        left = max_bytes
        for entry in self._standing_in(texts, languages_of(workspace_language)):
            size = _size(entry)
            if entry.name in found or size > left:
                continue
            found[entry.name] = entry
            left -= size
            if len(found) == MAX_SENT_ENTRIES:
                break
        return MatchingEntries(tuple(found.values()), self.version)

    def _standing_in(
        self, texts: Iterable[str], languages: tuple[str, ...]
    ) -> Iterator[GlossaryEntry]:
        languages = tuple(each for each in languages if self._runs[each])
        for text in texts:
            for language in languages:
                yield from _standing_in(analysed(text, language), self._runs[language])


def _runs(entries: Iterable[GlossaryEntry], language: str) -> _Runs:
    runs: _Runs = {}
    for entry in entries:
        words = analysed(entry.term, language)
        if words:
            runs.setdefault(words[0], []).append((words, entry))
    for sharing in runs.values():
        sharing.sort(key=lambda run: -len(run[0]))
    return runs


def _standing_in(words: tuple[str, ...], runs: _Runs) -> Iterator[GlossaryEntry]:
    for start, word in enumerate(words):
        for run, entry in runs.get(word, ()):
            if words[start : start + len(run)] == run:
                yield entry


def _size(entry: GlossaryEntry) -> int:
    return sum(len(text.encode()) + 1 for text in (entry.term, *entry.synonyms))
