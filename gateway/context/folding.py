"""A text as a model reads it: look-alike signs count as the plain ones that they stand for."""

from __future__ import annotations

import unicodedata

_LOOK_ALIKES = {"[": "【〔〖〘〚⟦⁅❲", "]": "】〕〗〙〛⟧⁆❳", "<": "‹〈⟨❮", ">": "›〉⟩❯"}
_BRACKETS = str.maketrans(
    {alike: plain for plain, alikes in _LOOK_ALIKES.items() for alike in alikes}
)


def folded(text: str) -> str:
    """Returns the text with look-alikes folded, every character in its old place.

    Full-width and other compatibility forms become the plain character where that is one (Unicode
    NFKC), and every kind of bracket the ASCII one. Both texts are equally long, so that what is
    found in one can be changed in the other.
    """
    if text.isascii():
        return text
    plain = (
        form if len(form := unicodedata.normalize("NFKC", character)) == 1 else character
        for character in text
    )
    return "".join(plain).translate(_BRACKETS)
