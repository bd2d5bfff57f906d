"""Cuts the blocks of a document into passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from gateway.documents import ParentRange, Passage
from gateway.ingestion.chunking.embedded_text import embedded_text, embedded_text_hash
from gateway.ingestion.chunking.measures import Measure, whole, words
from gateway.ingestion.chunking.packing import grouped, joined, pack
from gateway.ingestion.chunking.pieces import Piece, document_text, pieces_of
from gateway.ingestion.chunking.profiles import ChunkingProfile, Unit, child_profile
from gateway.ingestion.extraction.blocks import Block, BlockKind


@dataclass(frozen=True, slots=True)
class CutPassage:
    """A passage, the text it is embedded as, and its place in the text of the document.

    `[start, end)` refers to `pieces.document_text`.
    """

    passage: Passage
    embedded_text: str
    start: int
    end: int
    title: str = ""


def cut(
    blocks: Sequence[Block],
    title: str,
    profile: ChunkingProfile,
    tokens: Measure,
    child_tokens: int = 0,
) -> tuple[CutPassage, ...]:
    """Returns the passages of a document in order.

    Every non-blank character of the blocks is in a passage, and `start` strictly grows. `tokens`
    estimates the tokens of a text. With `child_tokens` passages are at most that long; those that
    follow each other make up parents, which are as long as the profile says.
    """
    measure = tokens if profile.unit is Unit.TOKENS else words
    source = document_text(blocks)
    if child_tokens:
        children = child_profile(profile, child_tokens)
        packed = pack(pieces_of(blocks, children, tokens), children, tokens)
        passages = _with_parents(grouped(packed, profile, measure), title, tokens)
    else:
        packed = pack(pieces_of(blocks, profile, measure), profile, measure)
        passages = (_passage(index, pieces, title, tokens) for index, pieces in enumerate(packed))
    return tuple(_flagged(one, source) for one in passages)


def _with_parents(
    groups: Iterable[Sequence[Sequence[Piece]]], title: str, tokens: Measure
) -> Iterator[CutPassage]:
    first = 0
    for group in groups:
        for index, pieces in enumerate(group, first):
            cut_passage = _passage(index, pieces, title, tokens)
            if len(group) > 1:
                parent = ParentRange(first, len(group), pieces[0].gap)
                passage = replace(cut_passage.passage, parent=parent)
                cut_passage = replace(cut_passage, passage=passage)
            yield cut_passage
        first += len(group)


def _flagged(cut_passage: CutPassage, source: str) -> CutPassage:
    borders = (cut_passage.start, cut_passage.end)
    cuts_token = any(_inside_token(source, border) for border in borders)
    return replace(cut_passage, passage=replace(cut_passage.passage, cuts_token=cuts_token))


def _inside_token(source: str, border: int) -> bool:
    around = source[max(border - 1, 0) : border + 1]
    return 0 < border < len(source) and around.isalnum()


def _passage(index: int, pieces: Sequence[Piece], title: str, tokens: Measure) -> CutPassage:
    text = joined(pieces)
    heading_path = next(
        (piece.heading_path for piece in pieces if piece.kind is not BlockKind.HEADING),
        pieces[-1].heading_path,
    )
    embedded = embedded_text(_headings_to_embed(pieces, heading_path, title), text)
    passage = Passage(
        chunk_index=index,
        text=text,
        heading_path=heading_path,
        location=pieces[0].location,
        token_estimate=whole(tokens(text)),
        embedded_text_hash=embedded_text_hash(embedded),
    )
    return CutPassage(passage, embedded, pieces[0].start, pieces[-1].end, title=title)


def _headings_to_embed(
    pieces: Sequence[Piece], heading_path: tuple[str, ...], title: str
) -> tuple[str, ...]:
    """Returns title and headings without those that the text itself begins with."""
    opening = takewhile(lambda piece: piece.kind is BlockKind.HEADING, pieces)
    written = {piece.heading_path[-1] for piece in opening}
    above = list(heading_path)
    while above and above[-1] in written:
        above.pop()
    names_document = bool(heading_path) and heading_path[0].casefold() == title.casefold()
    return (title, *above) if title and not names_document else tuple(above)
