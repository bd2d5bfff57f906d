"""Long texts are cut between words, and nothing of them is lost."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from embedder_svc.providers.slicing import slices_of

PREFIX_TOKENS = 2
LETTERS_A_TOKEN = 3


def count_tokens(text: str) -> int:
    """Counts like a subword tokenizer: each word costs its length over three, rounded up."""
    return PREFIX_TOKENS + sum(-(-len(word) // LETTERS_A_TOKEN) for word in text.split())


@given(
    st.lists(st.text("abcdé", min_size=1, max_size=20), min_size=1, max_size=60),
    st.sampled_from([" ", "  ", "\n", "\t \u00a0"]),
    st.integers(PREFIX_TOKENS + 1, 40),
)
def test_slices_hold_the_whole_text_and_fit(words: list[str], gap: str, limit: int) -> None:
    """Whatever the limit, every slice fits and together they are the text."""
    slices = slices_of(gap.join(words), limit, count_tokens)

    assert "".join("".join(piece.text.split()) for piece in slices) == "".join(words)
    assert all(piece.token_count == count_tokens(piece.text) <= limit for piece in slices)


def test_words_that_fit_are_kept_whole() -> None:
    """Cuts fall between words as long as each word fits, also where half of one would fit."""
    words = [f"mot{number}" for number in range(100)]

    slices = slices_of(" ".join(words), 13, count_tokens)

    assert [word for piece in slices for word in piece.text.split()] == words


def test_each_slice_is_as_long_as_the_limit_allows() -> None:
    """The next word would not have fitted into the slice before it."""
    slices = slices_of("un deux trois quatre cinq six sept huit neuf dix", 8, count_tokens)

    for piece, following in pairwise(slices):
        assert count_tokens(f"{piece.text} {following.text.split()[0]}") > 8


def test_a_word_longer_than_the_limit_is_cut_inside() -> None:
    """A text without any gap is sliced all the same."""
    slices = slices_of("x" * 100, 12, count_tokens)

    assert [len(piece.text) for piece in slices] == [30, 30, 30, 10]


def test_a_character_over_the_limit_is_a_slice() -> None:
    """A limit that nothing fits does not make the cutting run for ever."""
    assert [piece.text for piece in slices_of("abc", 1, count_tokens)] == ["a", "b", "c"]
