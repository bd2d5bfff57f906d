"""Puts pieces together to passages.

Every piece is in at least one passage, in order; the first pieces of a passage may repeat the last
ones of the passage before. Passages begin at strictly growing places of the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gateway.ingestion.chunking.measures import Measure
from gateway.ingestion.chunking.pieces import Piece
from gateway.ingestion.chunking.profiles import OVERLAP_STRETCH, ChunkingProfile
from gateway.ingestion.extraction.blocks import BlockKind
from text_analysis.sentences import sentence_spans

_REPEATED = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})


@dataclass(frozen=True, slots=True)
class _Step:
    """Pieces that are added together: headings with the first piece below them.

    `rest` is the length of this step and all that follow it in its section.
    """

    pieces: tuple[Piece, ...]
    length: float
    opens_section: bool
    rest: float = 0.0


def pack(
    pieces: Iterable[Piece], profile: ChunkingProfile, measure: Measure
) -> Iterator[tuple[Piece, ...]]:
    """Yields the pieces of each passage."""
    packed: list[Piece] = []
    length = 0.0
    for step in _steps(pieces, profile, measure):
        if packed and not _belongs(step, length, profile):
            yield tuple(packed)
            room = profile.maximum - step.length
            repeats = not (profile.follows_headings and step.opens_section)
            packed = _overlap(packed, room, profile, measure) if repeats else []
            length = joined_length(packed, measure)
        packed.extend(step.pieces)
        length += step.length
    if packed:
        yield tuple(packed)


def grouped(
    children: Iterable[Sequence[Piece]], profile: ChunkingProfile, measure: Measure
) -> list[list[tuple[Piece, ...]]]:
    """Returns blocks of passages that follow each other, each block as long as a passage may be.

    No passage is in two blocks.
    """
    groups: list[list[tuple[Piece, ...]]] = []
    length = 0.0
    for step in _with_rests([_step(child, measure) for child in children]):
        if groups and _belongs(step, length, profile):
            groups[-1].append(step.pieces)
            length += step.length
        else:
            groups.append([step.pieces])
            length = step.length
    return groups


def joined(pieces: Sequence[Piece]) -> str:
    """Returns the text of pieces that stand in one passage."""
    return "".join(
        piece.text if index == 0 else piece.gap + piece.text for index, piece in enumerate(pieces)
    )


def joined_length(pieces: Iterable[Piece], measure: Measure) -> float:
    """Returns the length of pieces with the gaps before them, which their text never exceeds."""
    return sum(measure(piece.gap) + measure(piece.text) for piece in pieces)


def _belongs(step: _Step, length: float, profile: ChunkingProfile) -> bool:
    """Says whether a passage of this length takes the step in."""
    if length + step.length > profile.maximum:
        return False
    if not profile.follows_headings:
        return True
    if step.opens_section:
        return length + step.rest <= profile.target or length < profile.minimum
    return (
        length + step.rest <= profile.maximum
        or length + step.length <= profile.target
        or length < profile.minimum
    )


def _steps(pieces: Iterable[Piece], profile: ChunkingProfile, measure: Measure) -> Sequence[_Step]:
    steps: list[_Step] = []
    headings: list[Piece] = []
    for piece in pieces:
        if piece.kind is BlockKind.HEADING and _fits([*headings, piece], profile, measure):
            headings.append(piece)
        elif _fits([*headings, piece], profile, measure):
            steps.append(_step([*headings, piece], measure))
            headings = []
        else:
            steps.append(_step(headings, measure))
            steps.append(_step([piece], measure))
            headings = []
    if headings:
        steps.append(_step(headings, measure))
    return _with_rests(steps)


def _fits(pieces: Sequence[Piece], profile: ChunkingProfile, measure: Measure) -> bool:
    return len(pieces) == 1 or joined_length(pieces, measure) <= profile.maximum


def _step(pieces: Sequence[Piece], measure: Measure) -> _Step:
    opens_section = pieces[0].kind is BlockKind.HEADING
    return _Step(tuple(pieces), joined_length(pieces, measure), opens_section)


def _with_rests(steps: Sequence[_Step]) -> Sequence[_Step]:
    completed: list[_Step] = []
    rest = 0.0
    for step in reversed(steps):
        rest += step.length
        completed.append(replace(step, rest=rest))
        if step.opens_section:
            rest = 0.0
    completed.reverse()
    return completed


def _overlap(
    packed: Sequence[Piece], room: float, profile: ChunkingProfile, measure: Measure
) -> list[Piece]:
    """Returns the end of a passage that the next one repeats, from a border between pieces.

    A last paragraph that is too long to be repeated gives its last sentences.
    """
    most = min(profile.overlap * OVERLAP_STRETCH, room)
    repeated: list[Piece] = []
    length = 0.0
    for piece in reversed(packed):
        piece_length = joined_length([piece], measure)
        if piece.kind not in _REPEATED or piece.start <= packed[0].start:
            break
        if length + piece_length > most:
            break
        repeated.insert(0, piece)
        length += piece_length
        if length >= profile.overlap:
            break
    last = packed[-1]
    if not repeated and last.kind is BlockKind.PARAGRAPH and most > 0:
        repeated.extend(_last_sentences(last, most, profile.overlap, measure))
    return repeated


def _last_sentences(piece: Piece, most: float, enough: float, measure: Measure) -> Iterator[Piece]:
    first_kept = len(piece.text)
    for start, _ in reversed(sentence_spans(piece.text)[1:]):
        if measure(piece.gap) + measure(piece.text[start:]) > most:
            break
        first_kept = start
        if measure(piece.text[start:]) >= enough:
            break
    if first_kept < len(piece.text):
        yield replace(piece, text=piece.text[first_kept:], start=piece.start + first_kept)
