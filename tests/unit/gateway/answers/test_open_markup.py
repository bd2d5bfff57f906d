"""Where a text stands inside of links, marks and tags, and texts made to take for ever."""

from __future__ import annotations

import pytest

from gateway.answers.held_text import HeldText
from gateway.answers.open_markup import OpenMarkup


def _followed(text: str) -> OpenMarkup:
    markup = OpenMarkup()
    markup.feed(text)
    return markup


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("ab [cd] ef", "_[cd]"),
        ("ab [cd](ef) g", "_[cd](ef)"),
        ("a [b](c(d)e) f", "_[b](c(d)e)"),
        ("![a [b]](c) d", "_[a [b]](c)"),
        ("a <b c> d", "_<b c>"),
        ("a < b > c", ""),
        ("a (b) c", ""),
        ("a ] b", ""),
        ("a [b\n\nc] d", "_[b\n"),
        ("a <b\n \nc> d", "_<b\n "),
    ],
)
def test_no_cut_goes_through_markup(text: str, inside: str) -> None:
    """Between its first and its last character; a blank line ends it."""
    markup = _followed(text)
    start = text.find(inside[1:]) if inside else -1
    expected = [bool(inside) and start < at < start + len(inside) - 1 for at in range(len(text))]

    assert [markup.is_open_at(at) for at in range(len(text))] == expected
    assert markup.open_from == len(text)


@pytest.mark.parametrize("text", ["a [b", "a [b](c", "a <b", "a [b [c] d"])
def test_what_has_no_end_yet_is_open(text: str) -> None:
    """From its first character on."""
    markup = _followed(text)

    assert markup.open_from == 2
    assert not markup.is_open_at(2)
    assert all(markup.is_open_at(at) for at in range(3, len(text) + 1))


@pytest.mark.parametrize(
    "part",
    ["[", "![a. B", "<a. B", "a. [b ", "](a. B", "[a](b. C", "a. b. ", "a.b.", "A. B. ", "[1]. "],
)
def test_no_text_takes_for_ever(part: str) -> None:
    """Each would, if all of it were looked at anew with each piece; and nothing of it is lost."""
    text = part * (16_000 // len(part))
    held = HeldText()
    given = [held.feed(text[at : at + 4]) for at in range(0, len(text), 4)]

    assert "".join([*given, held.close()]) == text
