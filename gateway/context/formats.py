"""Three formats of a block of sources, and how each is cited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote

from gateway.context.neutralisation import neutralised, one_line
from gateway.context.sources import Source


class ContextFormat(Enum):
    """How sources are written and cited."""

    NUMBERED = "numbered"
    """`[Source 1: "Title"]`, cited as `[[source:DOC_ID|TITLE]]`."""
    TITLED = "titled"
    """`[Source: Title]` between two borders, cited by title."""
    HEADED = "headed"
    """`[Source-1] (Title > Heading)`, cited as `[Source-1]`."""


class ContextLanguage(Enum):
    """Language of what stands around the passages."""

    FRENCH = "fr"
    ENGLISH = "en"


TITLED_HEAD: Mapping[ContextLanguage, str] = {
    ContextLanguage.FRENCH: "=== CONTEXTE DOCUMENTAIRE PERTINENT (RAG) ===",
    ContextLanguage.ENGLISH: "=== RELEVANT DOCUMENT CONTEXT (RAG) ===",
}
TITLED_FOOT = "==="
HEADED_BORDER = "\n\n---\n\n"
PLAIN_BORDER = "\n\n"

# Signs that part a mark, or end it, or begin an escaped sign.
_ID_SIGNS = frozenset("%[]|")


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """A source as it stands in a block; `mark` is how an answer cites it.

    `title` is what the block calls its document. Marks of the numbered and the titled format name
    documents, so sources of one document share theirs.
    """

    index: int
    source: Source
    title: str
    mark: str


def numbered_sources(sources: Sequence[Source], style: ContextFormat) -> list[NumberedSource]:
    """Numbers the sources from 1, in the order in which they stand.

    Titles that several documents have are told apart by a number behind them.
    """
    titles = _titles_of(sources)
    mark = _MARKS[style]
    return [
        NumberedSource(index, source, title, mark(index, source, title))
        for index, source in enumerate(sources, start=1)
        for title in (titles[source.external_id],)
    ]


def written(numbered: NumberedSource, style: ContextFormat) -> str:
    """Writes one source with its head."""
    return f"{_HEADS[style](numbered)}\n{neutralised(numbered.source.text).strip()}"


def block_of(pieces: Sequence[str], style: ContextFormat, language: ContextLanguage) -> str:
    """Joins written sources to the block; empty where there is none."""
    if not pieces:
        return ""
    if style is ContextFormat.HEADED:
        return HEADED_BORDER.join(pieces)
    body = PLAIN_BORDER.join(pieces)
    if style is ContextFormat.NUMBERED:
        return body
    return f"{TITLED_HEAD[language]}\n{body}\n{TITLED_FOOT}"


def _titles_of(sources: Sequence[Source]) -> dict[str, str]:
    """Returns a title for each document by its id, no two of them equal."""
    titles: dict[str, str] = {}
    taken: set[str] = set()
    for source in sources:
        if source.external_id in titles:
            continue
        title = one_line(source.title) or one_line(source.external_id) or "?"
        unlike, number = title, 1
        while unlike.casefold() in taken:
            number += 1
            unlike = f"{title} ({number})"
        taken.add(unlike.casefold())
        titles[source.external_id] = unlike
    return titles


def _numbered_mark(_index: int, source: Source, title: str) -> str:
    return f"[[source:{_escaped(source.external_id)}|{title}]]"


def _titled_mark(_index: int, _source: Source, title: str) -> str:
    return f"[Source: {title}]"


def _headed_mark(index: int, _source: Source, _title: str) -> str:
    return f"[Source-{index}]"


_MARKS: Mapping[ContextFormat, Callable[[int, Source, str], str]] = {
    ContextFormat.NUMBERED: _numbered_mark,
    ContextFormat.TITLED: _titled_mark,
    ContextFormat.HEADED: _headed_mark,
}


def _escaped(external_id: str) -> str:
    """Returns an id with signs escaped that have a meaning in a mark; no two become equal."""
    return "".join(
        quote(sign, safe="") if sign in _ID_SIGNS or not sign.isprintable() else sign
        for sign in external_id
    )


def _numbered_head(numbered: NumberedSource) -> str:
    title = numbered.title.replace('"', "'")
    return f'[Source {numbered.index}: "{title}"]'


def _titled_head(numbered: NumberedSource) -> str:
    return f"[Source: {numbered.title}]"


def _headed_head(numbered: NumberedSource) -> str:
    path = " > ".join(map(one_line, numbered.source.heading_path)) or numbered.title
    return f"[Source-{numbered.index}] ({path})"


_HEADS: Mapping[ContextFormat, Callable[[NumberedSource], str]] = {
    ContextFormat.NUMBERED: _numbered_head,
    ContextFormat.TITLED: _titled_head,
    ContextFormat.HEADED: _headed_head,
}
