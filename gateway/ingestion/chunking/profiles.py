"""How long passages are and where they begin, by profile.

Every profile cuts between sentences; only a sentence longer than a passage is cut itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

CHUNKER_VERSION = "2"
"""Grows when the same blocks would give other passages than before."""

DEFAULT_PROFILE = "structure"
OVERLAP_STRETCH = 1.5
"""An overlap ends at a border, so it may be this much longer than asked for."""


class Unit(Enum):
    """What the lengths of a profile count."""

    TOKENS = "tokens"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class ChunkingProfile:
    """Lengths in `unit`: a passage is filled up to `target`, and never beyond `maximum`.

    With `follows_headings` a passage of at least `minimum` ends before a heading, paragraphs stay
    whole where they can, and nothing of one section is repeated in the next.
    """

    name: str
    unit: Unit
    minimum: int
    target: int
    maximum: int
    overlap: int
    follows_headings: bool

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.target <= self.maximum or self.maximum < 1:
            raise ValueError(f"lengths of profile {self.name!r} must grow from minimum to maximum")
        if not 0 <= self.overlap * OVERLAP_STRETCH < self.maximum:
            raise ValueError(f"the overlap of profile {self.name!r} must be well below its maximum")

    @property
    def longest_whole_paragraph(self) -> int:
        """Up to here a paragraph can be added to any passage that is still below `minimum`."""
        return self.maximum - self.minimum if self.follows_headings else 0


def child_profile(profile: ChunkingProfile, tokens: int) -> ChunkingProfile:
    """Returns how the parts of blocks are cut, which are searched in place of the blocks.

    They follow headings where the blocks do, so that no block has to end inside of one, and repeat
    nothing: their block holds them all.
    """
    return ChunkingProfile(
        f"{profile.name}/{tokens}",
        Unit.TOKENS,
        0,
        tokens,
        tokens,
        0,
        profile.follows_headings,
    )


PROFILES: Mapping[str, ChunkingProfile] = {
    profile.name: profile
    for profile in (
        ChunkingProfile("structure", Unit.TOKENS, 400, 600, 800, 60, follows_headings=True),
        ChunkingProfile("sentences", Unit.TOKENS, 0, 500, 500, 50, follows_headings=False),
        ChunkingProfile("words", Unit.WORDS, 0, 500, 500, 100, follows_headings=False),
    )
}
