"""Makes text fit to be stored and searched: composed accents, no ligatures, no control codes."""

from __future__ import annotations

import re
import unicodedata

_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
# Line breaks that are not "\n", and characters that only steer the layout.
_LAYOUT = {
    0x0B: "\n",
    0x0C: "\n",
    0x85: "\n",
    0x2028: "\n",
    0x2029: "\n",
    0xAD: None,
    0xFEFF: None,
}
_TRANSLATION: dict[int, str | None] = {**_LIGATURES, **_LAYOUT}
# Translating costs ten times what looking does, and most texts hold none of these.
_TRANSLATED = re.compile(f"[{''.join(map(chr, _TRANSLATION))}]")
# Control codes, private use, surrogates and code points that are no characters.
_UNREADABLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff"
    "\U000f0000-\U0010ffff]"
)
_PLAIN = re.compile(r"[\t\n\r -~]*")


def clean(text: str) -> tuple[str, int]:
    """Returns the text in NFC with "\\n" line breaks, and the number of characters dropped.

    Soft hyphens and byte order marks vanish without being counted.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _PLAIN.fullmatch(text):
        return text, 0
    if _TRANSLATED.search(text):
        text = text.translate(_TRANSLATION)
    text, dropped = _UNREADABLE.subn("", text)
    return unicodedata.normalize("NFC", text), dropped
