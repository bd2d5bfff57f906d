"""What holds for the passages of any document, in every profile."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.ingestion.chunking.chunker import CutPassage, cut
from gateway.ingestion.chunking.division import cuts
from gateway.ingestion.chunking.measures import Measure, token_measure, words
from gateway.ingestion.chunking.pieces import document_text
from gateway.ingestion.chunking.profiles import PROFILES, ChunkingProfile, Unit
from gateway.ingestion.extraction.blocks import Block, BlockKind

TOKENS = token_measure()


def scaled(profile: ChunkingProfile, divisor: int) -> ChunkingProfile:
    """A profile with small numbers: its rules show on small documents."""
    return replace(
        profile,
        minimum=profile.minimum // divisor,
        target=profile.target // divisor,
        maximum=profile.maximum // divisor,
        overlap=profile.overlap // divisor,
    )


SMALL = [scaled(profile, divisor) for profile in PROFILES.values() for divisor in (20, 100)]
_WORDS = st.one_of(
    st.from_regex(r"[a-zé]{1,12}", fullmatch=True),
    st.sampled_from(
        [
            "M.",
            "art.",
            "3.14",
            "Fin.",
            "Quoi ?",
            "a" * 90,
            "北京烤鸭很好",
            "👩‍👩‍👧‍👦",
            "e\u0301" * 20,
        ]
    ),
)
_LINE = st.lists(_WORDS, min_size=1, max_size=15).map(" ".join)
_PARTS = st.lists(_LINE, min_size=1, max_size=8).map(tuple)
_BLOCKS = st.one_of(
    st.builds(
        lambda text, level: Block(BlockKind.HEADING, (text,), level), _LINE, st.integers(1, 6)
    ),
    st.builds(lambda text: Block(BlockKind.PARAGRAPH, (text,)), _PARTS.map("\n".join)),
    st.builds(lambda parts: Block(BlockKind.LIST, parts), _PARTS),
    st.builds(
        lambda parts, header: Block(BlockKind.TABLE, parts, header=header),
        _PARTS,
        st.one_of(st.just(()), _LINE.map(lambda line: (line, "| --- |"))),
    ),
    st.builds(lambda parts: Block(BlockKind.CODE, parts, language="py"), _PARTS),
)
# Its long word measures more alone than among the others.
_TABLE_OF_A_LONG_WORD = Block(
    BlockKind.TABLE,
    ("a" * 90, "M. M. M. Quoi ? Quoi ? a a a a a a a a a a", "a a a"),
    header=("a a M.", "| --- |"),
)
_DOCUMENTS = st.lists(_BLOCKS, min_size=1, max_size=8)


def measure_of(profile: ChunkingProfile) -> Measure:
    """The measure a profile's lengths refer to."""
    return TOKENS if profile.unit is Unit.TOKENS else words


def lost(passages: tuple[CutPassage, ...], blocks: list[Block]) -> str:
    """The non-blank characters of a document that are in no passage's span."""
    text = document_text(blocks)
    covered = bytearray(len(text))
    for passage in passages:
        covered[passage.start : passage.end] = b"\x01" * (passage.end - passage.start)
    return "".join(
        character
        for character, held in zip(text, covered, strict=True)
        if not held and not character.isspace()
    )


@given(_DOCUMENTS, st.sampled_from(SMALL))
def test_nothing_is_lost_and_starts_strictly_grow(
    blocks: list[Block], profile: ChunkingProfile
) -> None:
    """Every non-blank character is in a passage; no passage begins where another does."""
    passages = cut(blocks, "Titre", profile, TOKENS)
    starts = [passage.start for passage in passages]

    assert lost(passages, blocks) == ""
    assert starts == sorted(set(starts))
    assert [passage.passage.chunk_index for passage in passages] == list(range(len(passages)))


@given(_DOCUMENTS, st.sampled_from(SMALL))
@example([_TABLE_OF_A_LONG_WORD], scaled(PROFILES["words"], 20))
def test_no_passage_is_longer_than_the_maximum(
    blocks: list[Block], profile: ChunkingProfile
) -> None:
    """Only a single shown character may be, since it is not cut."""
    measure = measure_of(profile)

    for passage in cut(blocks, "", profile, TOKENS):
        text = passage.passage.text
        assert text.strip()
        assert measure(text) <= profile.maximum + 1e-6 or len(text) <= 8, text


@given(_DOCUMENTS, st.sampled_from(SMALL))
def test_the_words_of_the_source_are_found_in_order(
    blocks: list[Block], profile: ChunkingProfile
) -> None:
    """Spans are honest: what a block says within a passage's span stands in its text."""
    source = document_text(blocks)

    for passage in cut(blocks, "", profile, TOKENS):
        position = 0
        for word in re.findall(r"[a-zé]{3,12}", source[passage.start : passage.end]):
            position = passage.passage.text.find(word, position)
            assert position >= 0, (word, passage.passage.text)


@given(st.lists(_LINE, min_size=1, max_size=20), st.sampled_from(SMALL))
def test_passages_of_prose_begin_and_end_with_sentences(
    lines: list[str], profile: ChunkingProfile
) -> None:
    """A sentence that fits is never cut."""
    sentences = [f"Le {re.sub('[^a-zé ]', '', line) or 'mot'} suit." for line in lines]
    short = [s for s in sentences if measure_of(profile)(s) <= profile.maximum] or ["Rien."]
    blocks = [Block(BlockKind.PARAGRAPH, (" ".join(short),))]

    for passage in cut(blocks, "", profile, TOKENS):
        assert re.match(r"(?:Le|Rien)\b", passage.passage.text)
        assert passage.passage.text.endswith(".")


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(
    "text",
    [
        "ab\n" * 30_000,
        "x" * 200_000,
        "https://exemple.fr/" + "a/" * 5_000,
        "é" * 50_000,
        "a\u0300" * 20_000,
    ],
    ids=["lines", "unbroken", "address", "accents", "marks"],
)
def test_hostile_text_ends_in_bounded_passages(profile: ChunkingProfile, text: str) -> None:
    """Long runs without blanks or signs are cut hard; no passage passes the store's 64 kB."""
    blocks = [Block(BlockKind.PARAGRAPH, (text,))]

    passages = cut(blocks, "", profile, TOKENS)

    assert lost(passages, blocks) == ""
    assert max(len(passage.passage.text.encode()) for passage in passages) <= 64 * 1024
    assert len(passages) < 2_000


@given(st.text(alphabet="ab é\u0301\u200d👩👧", max_size=60), st.floats(0.3, 8.0))
def test_cuts_keep_marks_with_their_character(text: str, maximum: float) -> None:
    """Spans are in order and never empty; combining marks stay unless nothing else is left."""
    spans = list(cuts(text, 0, len(text), maximum, token_measure(1.0)))

    assert all(first < last for first, last in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    kept = "".join(text[first:last] for first, last in spans)
    assert "".join(kept.split()) == "".join(text.split())
    for first, last in spans:
        starts_with_mark = text[first] in "\u0301\u200d"
        before_is_blank = first == 0 or text[first - 1].isspace()
        assert not starts_with_mark or before_is_blank or last - first <= maximum + 1


@pytest.mark.parametrize(
    ("name", "unit", "least", "usual", "most", "overlap"),
    [
        ("structure", Unit.TOKENS, 400, 600, 800, 60),
        ("sentences", Unit.TOKENS, 0, 500, 500, 50),
        ("words", Unit.WORDS, 0, 500, 500, 100),
    ],
)
def test_the_profiles_have_their_agreed_lengths(
    name: str, unit: Unit, least: int, usual: int, most: int, overlap: int
) -> None:
    """Workspaces rely on them."""
    profile = PROFILES[name]

    assert (profile.unit, profile.minimum, profile.target) == (unit, least, usual)
    assert (profile.maximum, profile.overlap) == (most, overlap)


@pytest.mark.parametrize(
    "lengths",
    [
        (400, 600, 800, 600),
        (700, 600, 800, 60),
        (400, 600, 500, 60),
        (-1, 600, 800, 60),
        (0, 0, 0, 0),
    ],
)
def test_profiles_that_could_not_end_are_refused(lengths: tuple[int, int, int, int]) -> None:
    """An overlap near the maximum would repeat for ever."""
    with pytest.raises(ValueError, match="mine"):
        ChunkingProfile("mine", Unit.TOKENS, *lengths, follows_headings=True)


def test_sentences_overlap_by_sentences() -> None:
    """About 50 tokens of the passage before are repeated."""
    text = " ".join(f"La phrase {n:03} parle du quai et du navire." for n in range(200))

    passages = cut([Block(BlockKind.PARAGRAPH, (text,))], "", PROFILES["sentences"], TOKENS)

    for before, after in pairwise(passages):
        repeated = before.end - after.start
        assert 50 <= TOKENS("x" * repeated) <= 75
        assert after.passage.text.startswith("La phrase")


def test_words_are_counted_as_words() -> None:
    """About 500 words a passage, about 100 of them repeated."""
    text = " ".join(f"Un deux trois quatre {n:04}." for n in range(600))

    passages = cut([Block(BlockKind.PARAGRAPH, (text,))], "", PROFILES["words"], TOKENS)

    assert all(490 <= len(passage.passage.text.split()) <= 500 for passage in passages[:-1])
    for before, after in pairwise(passages):
        repeated = text[after.start : before.end].split()
        assert 100 <= len(repeated) <= 150
