"""Text without invisible characters."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from text_analysis.visible_text import visible


def test_invisible_characters_are_dropped_and_line_ends_unified() -> None:
    """Zero-width, bidirectional, tag and control characters; accents and CJK stay."""
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert visible(f"Dé\u200bpart\u202e\x00 {hidden}à\u0301 京都") == "Départ à\u0301 京都"
    assert visible("a\r\nb\rc\u2028d\x85e\tf\n") == "a\nb\nc\nd\ne\tf\n"
    assert visible("plain") == "plain"


@settings(derandomize=True, max_examples=100)
@given(st.text(max_size=40))
def test_what_is_left_can_be_seen(text: str) -> None:
    """Whatever the text, once is enough, and no visible character is lost."""
    shown = visible(text)

    assert visible(shown) == shown
    assert all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in shown)
    seen = [c for c in text if unicodedata.category(c)[0] not in "CZ"]
    assert [c for c in shown if unicodedata.category(c)[0] not in "CZ"] == seen
