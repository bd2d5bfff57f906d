"""Unicode normalisation that remembers where every character came from.

`normalise` unifies what readers see as the same text (compatibility forms, apostrophes, dashes,
case); `fold_accents` removes accents and ligatures. The two are separate because stemming needs
the accents.
"""

import re
import unicodedata
from dataclasses import dataclass
from itertools import groupby

_APOSTROPHES = "‘’‛ʼʹ′´`＇"
_HYPHENS = "‐‑‒–−"
_FRACTION_SLASHES = "⁄∕"
# Soft hyphen, zero-width joiners, word joiner, byte order mark: invisible inside words.
_INVISIBLE = "\u00ad\u200c\u200d\u2060\ufeff"

_UNIFIED = str.maketrans(
    {
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_HYPHENS, "-"),
        **dict.fromkeys(_FRACTION_SLASHES, "/"),
        **dict.fromkeys(_INVISIBLE, ""),
    }
)

_UNDECOMPOSED = str.maketrans(
    {
        "œ": "oe",
        "Œ": "OE",
        "æ": "ae",
        "Æ": "AE",
        "ß": "ss",
        "ẞ": "SS",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "Ð": "D",
        "þ": "th",
        "Þ": "TH",
        "ħ": "h",
        "Ħ": "H",
        "ı": "i",
    }
)

# Marks of the Latin, Greek and Cyrillic scripts; elsewhere marks are vowels and carry the word.
_ACCENTS = re.compile("[\u0300-\u036f]")

_PIECE = re.compile(r"\S+|\s+")

# Unicode's libraries put marks in order in time that grows with the square of their number.
_MOST_MARKS = 32


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """Holds normalised text and, for each of its characters, the span it came from.

    `starts[i]` and `ends[i]` are offsets in the original text, `0 <= starts[i] < ends[i]`; both
    lists never decrease. Characters that one original character expands to share its span.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the original span of `text[start:end]`, which must not be empty."""
        return self.starts[start], self.ends[end - 1]


def normalise(text: str) -> NormalisedText:
    """Applies NFKC, one apostrophe, one hyphen, no invisible characters, and case folding."""
    whole = _one_to_one(text)
    if whole is not None:
        return NormalisedText(whole, list(range(len(text))), list(range(1, len(text) + 1)))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _PIECE.finditer(text):
        piece, at = match.group(), match.start()
        unified = _one_to_one(piece)
        if unified is not None:
            pieces.append(unified)
            starts.extend(range(at, match.end()))
            ends.extend(range(at + 1, match.end() + 1))
            continue
        for start, end in _clusters(piece):
            normalised = _normalised(piece[start:end])
            pieces.append(normalised)
            starts.extend([at + start] * len(normalised))
            ends.extend([at + end] * len(normalised))
    return NormalisedText("".join(pieces), starts, ends)


def normalised_text(text: str) -> str:
    """Returns `normalise(text).text` without the spans, several times faster."""
    whole = _one_to_one(text)
    if whole is not None:
        return whole
    return "".join(_normalised_piece(match.group()) for match in _PIECE.finditer(text))


def fold_accents(text: str) -> str:
    """Removes accents and takes ligatures apart: `cœur` becomes `coeur`, `été` becomes `ete`.

    Scripts whose marks are not accents (kana, Hangul, Devanagari ...) stay as they are.
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def _normalised(piece: str) -> str:
    # Unified on both sides of NFKC: U+00B4 would become a blank, and U+00BD yields a U+2044.
    unified = piece.translate(_UNIFIED)
    if len(unified) > _MOST_MARKS:
        unified = _in_canonical_order(unified)
    compatible = unicodedata.normalize("NFKC", unified).translate(_UNIFIED)
    return unicodedata.normalize("NFKC", compatible.casefold())


def _in_canonical_order(text: str) -> str:
    """Returns the NFKD form of the text in time proportional to n log n."""
    decomposed = "".join(unicodedata.normalize("NFKD", character) for character in text)
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if marks else run)
        for marks, run in groupby(
            decomposed, lambda character: unicodedata.combining(character) > 0
        )
    )


def _normalised_piece(piece: str) -> str:
    unified = _one_to_one(piece)
    if unified is not None:
        return unified
    return "".join(_normalised(piece[start:end]) for start, end in _clusters(piece))


def _one_to_one(piece: str) -> str | None:
    """Returns the normalised piece if each character became exactly one; None otherwise.

    What it returns for a text is what it returns for the pieces of that text: a part of NFKC text
    is NFKC, and equal lengths mean that no character became none or two.
    """
    if piece.isascii():
        return piece.translate(_UNIFIED).lower()
    unified = piece.translate(_UNIFIED)
    if len(unified) != len(piece) or not unicodedata.is_normalized("NFKC", unified):
        return None
    folded = unified.casefold()
    if len(folded) != len(piece) or not unicodedata.is_normalized("NFKC", folded):
        return None
    return folded


def _clusters(piece: str) -> list[tuple[int, int]]:
    """Cuts where no normalisation reaches across: before characters that start anew."""
    starts = [0, *(i for i in range(1, len(piece)) if not _continues(piece[i]))]
    return list(zip(starts, [*starts[1:], len(piece)], strict=True))


def _continues(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"  # Hangul vowels and finals
        or character in "\uff9e\uff9f"  # half-width kana voicing marks
    )
