"""Blocks that are searched by their parts."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ingestion.chunking.chunker import CutPassage, cut
from gateway.ingestion.chunking.measures import token_measure, words
from gateway.ingestion.chunking.profiles import PROFILES, ChunkingProfile, Unit
from gateway.ingestion.extraction.blocks import Block, heading, paragraph

TOKENS = token_measure()
CHILD = 40
_SENTENCE = st.integers(3, 25).map(lambda count: f"Le {'quai ' * count}attend.")
_PARAGRAPH = st.lists(_SENTENCE, min_size=1, max_size=12).map(lambda s: paragraph(" ".join(s)))
_HEADING = st.integers(1, 3).map(lambda level: heading("Titre", level))
_DOCUMENTS = st.lists(st.one_of(_PARAGRAPH, _PARAGRAPH, _HEADING), min_size=1, max_size=25)


def blocks_of(passages: tuple[CutPassage, ...]) -> list[list[CutPassage]]:
    """The passages by the block that they are a part of; those that stand alone by themselves."""
    return [
        list(block)
        for _, block in groupby(
            passages,
            lambda one: (
                one.passage.parent.first_chunk_index
                if one.passage.parent
                else one.passage.chunk_index
            ),
        )
    ]


def text_of(block: list[CutPassage]) -> str:
    """The text of a block, put together as the retriever does."""
    first, *others = (one.passage for one in block)
    return first.text + "".join((p.parent.gap if p.parent else "") + p.text for p in others)


@given(_DOCUMENTS, st.sampled_from(list(PROFILES.values())))
def test_parts_are_small_and_blocks_as_long_as_the_profile_says(
    blocks: list[Block], profile: ChunkingProfile
) -> None:
    """Ranges fit, nothing is in two blocks, and together the blocks hold what whole ones would."""
    passages = cut(blocks, "", profile, TOKENS, CHILD)
    measure = TOKENS if profile.unit is Unit.TOKENS else words

    assert [one.passage.chunk_index for one in passages] == list(range(len(passages)))
    assert all(TOKENS(one.passage.text) <= CHILD + 1e-6 for one in passages)
    for block in blocks_of(passages):
        first = block[0].passage.chunk_index
        for one in block:
            parent = one.passage.parent
            assert (parent is None) == (len(block) == 1)
            assert parent is None or parent.first_chunk_index == first
            assert parent is None or parent.passage_count == len(block)
        assert measure(text_of(block)) <= profile.maximum + 1e-6
    written = "".join("".join(text_of(block).split()) for block in blocks_of(passages))
    shown = (f"{'#' * block.level}{block.text}" for block in blocks)
    assert written == "".join("".join(text.split()) for text in shown)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_blocks_are_filled(profile: ChunkingProfile) -> None:
    """A long text makes blocks of many parts, not many blocks of one."""
    text = " ".join(f"La phrase {n:03} parle du quai et du navire." for n in range(300))
    blocks = blocks_of(cut([paragraph(text)], "", profile, TOKENS, CHILD))
    measure = TOKENS if profile.unit is Unit.TOKENS else words

    assert all(measure(text_of(block)) >= profile.target * 0.8 for block in blocks[:-1])
    assert text_of(blocks[0]) in text


def test_a_block_does_not_reach_over_a_section_that_is_long_enough() -> None:
    """Parts of different sections stay apart, as whole passages do."""
    long = "Le quai attend le navire au large. " * 60
    passages = cut(
        [heading("A", 1), paragraph(long), heading("B", 1), paragraph(long)],
        "",
        PROFILES["structure"],
        TOKENS,
        CHILD,
    )

    assert [block[0].passage.heading_path for block in blocks_of(passages)] == [("A",), ("B",)]


def test_without_parts_passages_stand_alone() -> None:
    """Nothing changes for workspaces that do not ask for them."""
    passages = cut([paragraph("Un. Deux. " * 200)], "", PROFILES["structure"], TOKENS)

    assert all(one.passage.parent is None for one in passages)
