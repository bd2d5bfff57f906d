"""The sources of a context: passages of found documents, merged, chosen, and put in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.questions import Hit

_SHORTEST_OVERLAP = 12
"""Characters; fewer in common between two passages are chance."""


@dataclass(frozen=True, slots=True)
class Source:
    """One or several neighbouring passages of a document; `rank` is the best of their hits'."""

    rank: int
    hits: tuple[Hit, ...]
    text: str

    @property
    def title(self) -> str:
        """The document's title, or its id where it has none."""
        document = self.hits[0].fused.document
        return document.title.strip() or document.external_id

    @property
    def external_id(self) -> str:
        """The document's id."""
        return self.hits[0].fused.document.external_id

    @property
    def source_uri(self) -> str:
        """Where the document comes from."""
        return self.hits[0].fused.document.source_uri

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Headings above the first of the passages, outermost first."""
        return self.hits[0].fused.passage.heading_path

    @property
    def location(self) -> str:
        """Page or sheet on which the first of the passages starts; empty where there is none."""
        return self.hits[0].fused.passage.location

    def cut(self, length: int) -> Source:
        """Returns the source with so many characters of its text at most, cut between words."""
        if len(self.text) <= length:
            return self
        kept = self.text[: max(length - 1, 0)]
        border = max(kept.rfind(" "), kept.rfind("\n"))
        return replace(self, text=f"{kept[:border] if border > length // 2 else kept}…")


def current(hits: Iterable[Hit]) -> list[Hit]:
    """Returns the hits whose document no newer version replaces."""
    return [hit for hit in hits if not hit.fused.document.superseded]


def bounded(hits: Iterable[Hit], passages_per_document: int) -> list[Hit]:
    """Returns the hits, best first, at most so many of one document; 0 means no bound."""
    counts: Counter[str] = Counter()
    kept = []
    for hit in hits:
        document = hit.fused.document.external_id
        if not passages_per_document or counts[document] < passages_per_document:
            counts[document] += 1
            kept.append(hit)
    return kept


def merged(hits: Sequence[Hit]) -> list[Source]:
    """Returns a source for each run of neighbouring passages of a document, best first.

    What the end of a passage and the start of the next have in common is written once.
    """
    by_document: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_document[hit.fused.document.external_id].append(hit)
    sources = [_source(run) for own in by_document.values() for run in _runs(own)]
    return sorted(sources, key=lambda source: source.rank)


def best_at_the_ends(sources: Sequence[Source]) -> list[Source]:
    """Returns the best source first, the second last, and so on towards the middle.

    Models read the middle of a long prompt least (Liu et al., "Lost in the Middle", TACL 2024).
    """
    return [*sources[::2], *reversed(sources[1::2])]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a document, its passages `first` to `last`, and the hits that it was found by."""

    first: int
    last: int
    text: str
    hits: tuple[Hit, ...]


def _pieces(hits: Sequence[Hit]) -> list[_Piece]:
    """Returns what was found of a document in its order; a block stands in for its parts."""
    pieces: dict[tuple[int, int], _Piece] = {}
    for hit in hits:
        parent, index = hit.parent, hit.fused.passage.chunk_index
        first = index if parent is None else parent.first_chunk_index
        last = index if parent is None else first + parent.passage_count - 1
        text = hit.fused.passage.text if parent is None else parent.text
        known = pieces.get((first, last))
        found_by = (hit,) if known is None else (*known.hits, hit)
        pieces[first, last] = _Piece(first, last, text, found_by)
    return [pieces[place] for place in sorted(pieces)]


def _runs(hits: Sequence[Hit]) -> list[list[_Piece]]:
    runs: list[list[_Piece]] = []
    for piece in _pieces(hits):
        if runs and piece.first == runs[-1][-1].last + 1:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def _source(run: Sequence[_Piece]) -> Source:
    parts = [run[0].text]
    for piece in run[1:]:
        common = _overlap(parts[-1], piece.text)
        parts.append(piece.text[common:] if common else f"\n\n{piece.text}")
    hits = tuple(hit for piece in run for hit in piece.hits)
    return Source(min(hit.rank for hit in hits), hits, "".join(parts))


def _overlap(text: str, following: str) -> int:
    """Returns how many characters end the one text and begin the other; 0 where they are few.

    Takes time in proportion to both, by the prefix function of Knuth, Morris and Pratt (1977).
    """
    tail = text[-len(following) :] if following else ""
    borders = [0] * len(following)
    length = 0
    for place in range(1, len(following)):
        while length and following[place] != following[length]:
            length = borders[length - 1]
        length += following[place] == following[length]
        borders[place] = length
    length = 0
    for character in tail:
        while length and (length == len(following) or character != following[length]):
            length = borders[length - 1]
        length += character == following[length]
    return length if length >= _SHORTEST_OVERLAP else 0
