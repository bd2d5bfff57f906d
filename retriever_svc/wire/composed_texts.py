"""Texts that filters compare, in the composed form of Unicode (NFC).

Documents and conditions arrive from different keyboards and systems: an é may be one character or
two. Both sides are composed on arrival, so that what looks equal is equal. Case and width are left
alone: they may tell codes apart.
"""

import unicodedata


def composed(text: str) -> str:
    """Returns the text in NFC."""
    return unicodedata.normalize("NFC", text)
