"""What a model thought aloud is no part of its answer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_models.reasoning import ReasoningFilter, without_reasoning

CASES = [
    ("prix du gaz", "prix du gaz"),
    ("<think>1. foo\n2. bar</think>\n1. prix du gaz", "1. prix du gaz"),
    ("<think>foo", ""),
    ("<think></think>prix", "prix"),
    ("<think>a</think>prix <think>b</think>du gaz", "prix du gaz"),
    ("<THINK>a</Think> prix", "prix"),
    ("<thinking>a</thinking>prix<reasoning>b</reasoning>", "prix"),
    ("[THINK]a[/THINK]prix", "prix"),
    ("prix <think>du gaz", "prix"),
    ("a < b et <thi> c", "a < b et <thi> c"),
]


def filtered(pieces: Sequence[str]) -> str:
    """Feeds the pieces and returns all that was passed on."""
    reasoning = ReasoningFilter()
    passed = [reasoning.feed(piece) for piece in pieces]
    return "".join([*passed, reasoning.close()])


@pytest.mark.parametrize(("text", "answer"), CASES)
def test_blocks_are_taken_out(text: str, answer: str) -> None:
    """Unclosed ones to the end, several each by itself; what looks like one stays."""
    assert without_reasoning(text) == answer


def test_reasoning_that_nothing_opened_ends_before_the_answer() -> None:
    """Some templates write the first tag themselves, so that the answer lacks it."""
    assert without_reasoning("il demande le prix\n</think>\n\nprix du gaz") == "prix du gaz"


@pytest.mark.parametrize(("text", "answer"), CASES)
def test_a_stream_is_filtered_like_the_whole(text: str, answer: str) -> None:
    """Character by character, which cuts every tag."""
    assert filtered(list(text)).strip() == answer


@given(
    st.lists(
        st.sampled_from(["prix", " du <", "gaz>", "<th", "é\n", "<think>x</think>", "[", "/"]),
        max_size=8,
    ),
    st.lists(st.integers(0, 200), max_size=6),
)
def test_cuts_change_nothing(words: list[str], places: list[int]) -> None:
    """However a stream is cut, what is passed on is the same."""
    text = "".join(words)
    borders = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    pieces = [text[start:end] for start, end in itertools.pairwise(borders)]

    assert filtered(pieces) == filtered([text])
    assert filtered(pieces).strip() == without_reasoning(text)


def test_nothing_is_held_back_without_need() -> None:
    """A piece that cannot begin a tag is passed on at once."""
    reasoning = ReasoningFilter()

    assert reasoning.feed("prix ") == "prix "
    assert reasoning.feed("a <") == "a "
    assert reasoning.feed("b") == "<b"
