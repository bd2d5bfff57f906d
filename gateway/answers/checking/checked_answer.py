"""An answer whose citations are real, with what the sources do not hold marked or cut."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from gateway.answers.checking.links import AllowedLinks
from gateway.answers.checking.marks import KnownMarks
from gateway.answers.checking.support import missing_from
from gateway.answers.checking.units import Unit, needs_citation, units_of
from gateway.context.formats import ContextFormat, ContextLanguage, NumberedSource


class UnsupportedPolicy(Enum):
    """What becomes of a sentence that its sources do not bear out."""

    MARK = "mark"
    CUT = "cut"


class SentenceFlag(Enum):
    """What is wrong with a sentence."""

    UNCITED = "uncited"
    UNSUPPORTED = "unsupported"


_NOTES: Mapping[ContextLanguage, Mapping[SentenceFlag, str]] = {
    ContextLanguage.FRENCH: {
        SentenceFlag.UNCITED: "(sans source)",
        SentenceFlag.UNSUPPORTED: "(non confirmé par la source)",
    },
    ContextLanguage.ENGLISH: {
        SentenceFlag.UNCITED: "(no source)",
        SentenceFlag.UNSUPPORTED: "(not confirmed by the source)",
    },
}


@dataclass(frozen=True, slots=True)
class Citation:
    """What `[index]` in an answer stands for; `page` is a page or sheet, empty where none is."""

    index: int
    document_id: str
    title: str
    source_uri: str
    heading_path: tuple[str, ...]
    page: str


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that can be shown. Its marks are `[1]`, `[2]` ..., numbered as they first appear.

    `unknown_citation_count` marks meant no source and are gone, so are `removed_links` links,
    images and tags. Sentences without a citation, and those whose sources do not bear them out,
    are counted, and noted in the text; `cut_count` of the latter are gone.
    """

    text: str
    citations: tuple[Citation, ...]
    unknown_citation_count: int = 0
    removed_links: int = 0
    uncited_count: int = 0
    unsupported_count: int = 0
    cut_count: int = 0


def check_answer(
    text: str,
    sources: Sequence[NumberedSource],
    style: ContextFormat,
    language: ContextLanguage,
    policy: UnsupportedPolicy = UnsupportedPolicy.MARK,
    *,
    question: str = "",
) -> CheckedAnswer:
    """Checks an answer against the sources of its context.

    Of a text that goes on after a whole sentence, the result goes on too: what was checked stays
    as it is. What the question says needs no source. Time grows with the length of the text.
    """
    uris = [source.source.source_uri for source in sources]
    links = AllowedLinks([*(source.source.text for source in sources), *uris])
    cleaned, removed = links.cleaned(text)
    check = _Check(sources, style, language, policy, question)
    return check.run(cleaned, removed)


@dataclass(slots=True)
class _Check:
    sources: Sequence[NumberedSource]
    style: ContextFormat
    language: ContextLanguage
    policy: UnsupportedPolicy
    question: str
    citations: dict[str, Citation] = field(default_factory=dict)
    unknown: int = 0
    uncited: int = 0
    unsupported: int = 0
    cut: int = 0

    def run(self, text: str, removed_links: int) -> CheckedAnswer:
        """Writes the sentences with what lies between them."""
        known = KnownMarks(self.sources)
        parts: list[str] = []
        end = 0
        for unit in units_of(text):
            parts.append(text[end : unit.start])
            parts.append(
                text[unit.start : unit.end] if unit.is_code else self._unit(text, unit, known)
            )
            end = unit.end
        parts.append(text[end:])
        return CheckedAnswer(
            "".join(parts).rstrip(),
            tuple(self.citations.values()),
            self.unknown,
            removed_links,
            self.uncited,
            self.unsupported,
            self.cut,
        )

    def _unit(self, text: str, unit: Unit, known: KnownMarks) -> str:
        """Returns one sentence with its citations renumbered, and noted where it needs that."""
        named = [known.of(mark.said) for mark in unit.marks]
        meant = [tuple(source for source in sources if source) for sources in named]
        self.unknown += sum(source is None for sources in named for source in sources)
        cited = list(dict.fromkeys(source.index for sources in meant for source in sources))
        said = _without_marks(text, unit)
        flag = self._flag(said, cited)
        if flag is SentenceFlag.UNSUPPORTED:
            self.unsupported += 1
            if self.policy is UnsupportedPolicy.CUT:
                self.cut += 1
                return ""
        self.uncited += flag is SentenceFlag.UNCITED
        written = self._with_numbers(text, unit, meant)
        return written if flag is None else f"{written} {_NOTES[self.language][flag]}"

    def _flag(self, said: str, cited: Sequence[int]) -> SentenceFlag | None:
        if not cited:
            return SentenceFlag.UNCITED if needs_citation(said) else None
        names = {self._name_of(source) for source in self.sources if source.index in cited}
        # A mark that names a document stands for all that the context has of it.
        sources = [source for source in self.sources if self._name_of(source) in names]
        missing = missing_from(said, sources, self.question)
        return None if missing.nothing else SentenceFlag.UNSUPPORTED

    def _with_numbers(
        self, text: str, unit: Unit, meant: Sequence[tuple[NumberedSource, ...]]
    ) -> str:
        parts: list[str] = []
        end = unit.start
        for mark, sources in zip(unit.marks, meant, strict=True):
            before = text[end : mark.start]
            numbers = dict.fromkeys(self._number_of(source) for source in sources)
            parts.append(before if numbers else before.rstrip(" \t\u00a0"))
            parts += (f"[{number}]" for number in numbers)
            end = mark.end
        return "".join([*parts, text[end : unit.end]])

    def _number_of(self, source: NumberedSource) -> int:
        name = self._name_of(source)
        if name not in self.citations:
            self.citations[name] = _citation(len(self.citations) + 1, source)
        return self.citations[name].index

    def _name_of(self, source: NumberedSource) -> str:
        """Returns what is cited: the source, or its document where marks name documents."""
        if self.style is ContextFormat.HEADED:
            return str(source.index)
        return source.source.external_id


def _without_marks(text: str, unit: Unit) -> str:
    parts = []
    end = unit.start
    for mark in unit.marks:
        parts.append(text[end : mark.start])
        end = mark.end
    return re.sub(r"[ \t]+(?=[.,;:!?])", "", "".join([*parts, text[end : unit.end]])).strip()


def _citation(index: int, numbered: NumberedSource) -> Citation:
    source = numbered.source
    return Citation(
        index,
        source.external_id,
        source.title,
        source.source_uri,
        source.heading_path,
        source.location,
    )
