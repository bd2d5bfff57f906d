"""Turns blocks into pieces that are not cut any further."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gateway.ingestion.chunking.division import Span, sentences_within
from gateway.ingestion.chunking.measures import Measure
from gateway.ingestion.chunking.profiles import ChunkingProfile
from gateway.ingestion.extraction.blocks import Block, BlockKind

BLOCK_GAP = "\n\n"
_LONGEST_PATH_ENTRY = 200
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_GREATEST_FRAME_SHARE = 0.5
_MOST_BLANKS = 80


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stays together.

    `gap` stands before it when another piece of the same passage precedes. `[start, end)` is the
    place of its own words in the text of the document: all blocks, a blank line between them.
    `heading_path` holds the headings above it, outermost first, and a heading itself.
    """

    text: str
    gap: str
    start: int
    end: int
    kind: BlockKind
    heading_path: tuple[str, ...] = ()
    location: str = ""


def document_text(blocks: Iterable[Block]) -> str:
    """Returns the text that the places of pieces refer to."""
    return BLOCK_GAP.join(block.text for block in blocks)


def pieces_of(
    blocks: Iterable[Block], profile: ChunkingProfile, measure: Measure
) -> Iterator[Piece]:
    """Yields the pieces of the blocks in order, none longer than the profile's maximum."""
    offset = 0
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            path = [entry for entry in path if entry[0] < block.level]
            path.append((block.level, _path_entry(block.text)))
        headings = tuple(text for _, text in path)
        for piece in _Divider(block, offset, profile, measure).pieces():
            yield replace(piece, heading_path=headings, location=block.location)
        offset += len(block.text) + len(BLOCK_GAP)


def _path_entry(text: str) -> str:
    shortened = text[: _LONGEST_PATH_ENTRY - 1] + "…"
    return text if len(text) <= _LONGEST_PATH_ENTRY else shortened


class _Divider:
    """Divides one block that begins at `offset`."""

    def __init__(
        self, block: Block, offset: int, profile: ChunkingProfile, measure: Measure
    ) -> None:
        self._block = block
        self._offset = offset
        self._profile = profile
        self._measure = measure

    def pieces(self) -> Iterator[Piece]:
        block, text = self._block, self._block.text
        match block.kind:
            case BlockKind.HEADING:
                shown = f"{'#' * block.level} {text}"
                yield from self._whole_or(shown, self._profile.maximum, self._sentences((text,)))
            case BlockKind.PARAGRAPH:
                whole = self._profile.longest_whole_paragraph
                yield from self._whole_or(text, whole, self._sentences((text,)))
            case BlockKind.LIST:
                whole = self._profile.longest_whole_paragraph
                yield from self._whole_or(text, whole, self._sentences(block.parts))
            case BlockKind.CODE:
                fence = _fence_for(text)
                frame = (f"{fence}{block.language}\n", f"\n{fence}")
                yield from self._framed(frame)
            case BlockKind.TABLE:
                header = "\n".join(block.header)
                yield from self._framed((f"{header}\n" if header else "", ""))

    def _whole_or(self, shown: str, whole: int, divided: Iterator[Piece]) -> Iterator[Piece]:
        if self._measure(shown) <= whole:
            yield self._piece(shown, BLOCK_GAP, 0, len(self._block.text))
        else:
            yield from divided

    def _sentences(self, parts: Sequence[str]) -> Iterator[Piece]:
        """Yields parts, and sentences of a part that is too long or the only one."""
        start = 0
        for index, part in enumerate(parts):
            gap = BLOCK_GAP if index == 0 else "\n"
            previous = 0
            for first, last in self._sentence_spans(part, alone=len(parts) == 1):
                if previous:
                    gap = _single_blank(part[previous:first])
                yield self._piece(part[first:last], gap, start + first, start + last)
                previous = last
            start += len(part) + 1

    def _sentence_spans(self, part: str, *, alone: bool) -> Iterable[Span]:
        if not alone and self._measure(part) <= self._profile.maximum:
            return [(0, len(part))]
        return sentences_within(part, self._profile.maximum, self._measure)

    def _framed(self, frame: tuple[str, str]) -> Iterator[Piece]:
        """Yields runs of lines, each between the same opening and closing lines."""
        opening, closing = frame
        header = "\n".join(self._block.header)
        start = len(header) + 1 if header else 0
        if self._measure(opening + closing) > self._profile.maximum * _GREATEST_FRAME_SHARE:
            # Too long to be repeated: the header becomes a row like any other.
            yield from self._sentences((*self._block.header, *self._block.parts))
            return
        lines = "\n".join(self._block.parts)
        whole = f"{opening}{lines}{closing}"
        if self._measure(whole) <= self._profile.maximum:
            yield self._piece(whole, BLOCK_GAP, 0, len(self._block.text))
            return
        for index, (run, first, last) in enumerate(self._runs(self._measure(opening + closing))):
            begin = 0 if index == 0 else start + first
            yield self._piece(f"{opening}{run}{closing}", BLOCK_GAP, begin, start + last)

    def _runs(self, frame_length: float) -> Iterator[tuple[str, int, int]]:
        """Yields runs of lines up to the profile's target, with their place among the parts.

        A rest that still fits is not left for a run of its own.
        """
        text = "\n".join(self._block.parts)
        most = self._profile.maximum - frame_length
        usual = max(self._profile.target - frame_length, 1.0)
        spans = list(self._lines(most))
        ends = (0, *(last for _, last in spans))
        blanks = [
            _bounded_blanks(text[end:first]) for end, (first, _) in zip(ends, spans, strict=False)
        ]
        lengths = [
            self._measure(blank + text[first:last])
            for blank, (first, last) in zip(blanks, spans, strict=True)
        ]
        # Summed by line: the whole may measure less than its lines do, and so leave too little.
        rest = sum(lengths)
        run, length, begin, end = "", 0.0, 0, 0
        for (first, last), blank, added in zip(spans, blanks, lengths, strict=True):
            if run and length + added > usual and length + rest > most:
                yield run, begin, end
                run = ""
            if run:
                run += blank + text[first:last]
                length += added
            else:
                run, begin = text[first:last], first
                length = self._measure(run)
            rest -= added
            end = last
        if run:
            yield run, begin, end

    def _lines(self, most: float) -> Iterator[Span]:
        """Yields the spans of lines that hold text, and of parts of lines that are too long."""
        start = 0
        for part in self._block.parts:
            if part.strip() and self._measure(part) <= most:
                yield start, start + len(part)
            else:
                for first, last in sentences_within(part, most, self._measure):
                    yield start + first, start + last
            start += len(part) + 1

    def _piece(self, text: str, gap: str, start: int, end: int) -> Piece:
        return Piece(text, gap, self._offset + start, self._offset + end, self._block.kind)


def _single_blank(blanks: str) -> str:
    return "\n" if "\n" in blanks else blanks[:1]


def _bounded_blanks(blanks: str) -> str:
    return blanks if len(blanks) <= _MOST_BLANKS else _single_blank(blanks)


def _fence_for(text: str) -> str:
    """Returns a fence longer than any inside the code."""
    longest = max((len(match.group(1)) for match in _FENCE.finditer(text)), default=0)
    return "`" * max(3, longest + 1)
