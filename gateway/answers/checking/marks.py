"""Citation marks as models really write them, and the sources that they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from gateway.context.folding import folded
from gateway.context.formats import NumberedSource

# `[[source:ID|TITLE]]`, `[Source: Title]`, `[Source-1, Source-3]`, `[Sources 1 et 3]`, `[1, 3]`,
# looked for in the folded text, which has plain brackets only; a link's `[text](target)` is none.
MARK = re.compile(
    r"\[{1,2}\s{0,4}(?P<said>sources?\b[^\[\]\n]{0,600}|\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,20})\s{0,4}\]{1,2}(?!\()",
    re.IGNORECASE,
)
_WORD_SOURCE = re.compile(r"\bsources?\b|n\s?°|nº|#", re.IGNORECASE)
_NUMBERS_ALONE = re.compile(
    r"[\s\-:,;.&]*\d{1,3}(?:(?:[\s\-:,;.&]|\bet\b|\band\b)+\d{1,3})*[\s\-.]*"
)
_NUMBERED_TITLE = re.compile(r"\s*[-:]?\s*(\d{1,3})\s*[:,]\s*[\"“«]")
_SEPARATORS = " \t-:–—"


@dataclass(frozen=True)
class KnownMarks:
    """Finds the sources of one context by what a mark says."""

    sources: Sequence[NumberedSource]

    def of(self, said: str) -> tuple[NumberedSource | None, ...]:
        """Returns the sources that a mark means, None for each that the context does not have.

        `said` is what stands between its brackets.
        """
        spoken = _WORD_SOURCE.sub(" ", said)
        if _NUMBERS_ALONE.fullmatch(spoken):
            numbers = map(int, re.findall(r"\d+", spoken))
            return tuple(self._by_number.get(number) for number in numbers)
        numbered = _NUMBERED_TITLE.match(spoken)
        if numbered is not None and int(numbered[1]) in self._by_number:
            return (self._by_number[int(numbered[1])],)
        name = re.sub(r"\A\s*sources?\b", "", said, flags=re.IGNORECASE).strip(_SEPARATORS)
        external_id, parted, title = name.partition("|")
        found = self._by_id.get(_key(unquote(external_id)))
        if found is None:
            found = self._by_title.get(_key(title if parted else name))
        return (found,)

    @cached_property
    def _by_number(self) -> Mapping[int, NumberedSource]:
        return {source.index: source for source in self.sources}

    @cached_property
    def _by_id(self) -> Mapping[str, NumberedSource]:
        return {_key(source.source.external_id): source for source in reversed(self.sources)}

    @cached_property
    def _by_title(self) -> Mapping[str, NumberedSource]:
        return {_key(source.title): source for source in reversed(self.sources)}


def _key(name: str) -> str:
    """Returns what is equal for names that a model may have written in another way."""
    return " ".join(folded(name).casefold().strip(" \t\"'“”«»").split())
