"""Text without what people cannot see, so that nothing is said to a model behind their back."""

import unicodedata

# Control, format, private, surrogate and unassigned characters: zero-width ones, those that turn
# the direction of writing, and tags among them.
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
_LINE_ENDS = str.maketrans(dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"))


def visible(text: str) -> str:
    """Returns the text without invisible characters; every kind of line end becomes a newline."""
    if text.isascii() and text.isprintable():
        return text
    unified = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    return "".join(
        character
        for character in unified
        if character in "\n\t" or unicodedata.category(character) not in _INVISIBLE
    )
