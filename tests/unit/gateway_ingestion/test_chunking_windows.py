"""Windows of passages, and passages that cut a token."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ingestion.chunking.chunker import cut
from gateway.ingestion.chunking.measures import token_measure
from gateway.ingestion.chunking.profiles import PROFILES, ChunkingProfile
from gateway.ingestion.chunking.windows import windows_of
from gateway.ingestion.extraction.blocks import Block, BlockKind

TOKENS = token_measure()


def test_windows_hold_two_sentences_below_the_title() -> None:
    """An abbreviation ends no sentence; the last window may be shorter."""
    text = "Le quai est plein. M. Roy attend. Le navire aussi. Il pleut. Fin."

    assert windows_of(text, "Rouen") == (
        "Rouen\nLe quai est plein. M. Roy attend.",
        "Rouen\nLe navire aussi. Il pleut.",
        "Rouen\nFin.",
    )


def test_a_short_passage_has_no_windows() -> None:
    """It would be its own."""
    assert windows_of("Un. Deux.", "Titre") == ()
    assert windows_of("", "Titre") == ()


@given(st.text("ab. \n!?é", max_size=80))
def test_windows_hold_every_word_once(text: str) -> None:
    """Nothing is lost between windows, nor doubled."""
    windows = windows_of(text, "")

    if windows:
        assert "".join("".join(windows).split()) == "".join(text.split())


def test_a_token_longer_than_a_passage_is_cut_and_flagged() -> None:
    """On both sides of the cut, and nowhere else."""
    blocks = [Block(BlockKind.PARAGRAPH, (f"Début. {'x' * 4000} fin.",))]

    passages = cut(blocks, "", PROFILES["structure"], TOKENS)

    assert len(passages) == 2
    assert [one.passage.cuts_token for one in passages] == [True, True]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_ordinary_words_are_never_flagged(seed: int, profile: ChunkingProfile) -> None:
    """Cuts fall between words, also in text without sentences."""
    rng = random.Random(seed)
    text = " ".join("é" * rng.randint(1, 14) for _ in range(2_000))

    passages = cut([Block(BlockKind.PARAGRAPH, (text,))], "", profile, TOKENS)

    assert len(passages) > 3
    assert not any(one.passage.cuts_token for one in passages)
