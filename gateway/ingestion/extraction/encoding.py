"""Turns bytes into text where the encoding is not known for certain.

Order of trust: byte order mark, the pattern of UTF-16 without one, valid UTF-8, the encoding the
file declares, a Western European code page whose letters make sense in French or English, and last
a statistical guess.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN = ("cp1252", "mac_roman", "cp850")
_FRENCH = frozenset("àâäçéèêëîïôöùûüÿœæÀÂÄÇÉÈÊËÎÏÔÖÙÛÜŸŒÆ«»’‘“”–—…€°§·²³ªº\u00a0£©®™½¼¾×")
# Spanish, Portuguese and German; in older code pages their bytes are signs of French texts.
_NEIGHBOURS = frozenset("áíóúñãõäößåøÁÍÓÚÑÃÕÄÖÅØ¿¡")
_SPECIAL = re.compile(r"[^\x00-\x7f]")
# A capital inside a word of small letters.
_MISPLACED = re.compile(r"(?<=[^\W\d_])[À-ÞŒŸ](?=[a-zß-ÿœ])|(?<=[a-zß-ÿœ])[À-ÞŒŸ]")
_MOSTLY = 0.9
_SAMPLE_BYTES = 256 * 1024
_TRUSTED = re.compile(
    r"(?:iso-?8859-?\d+|latin-?[19]|windows-125\d|cp125\d|macintosh|koi8-[ru]|gb(?:k|2312|18030)"
    r"|big5|shift_jis|euc-(?:jp|kr))\Z",
    re.IGNORECASE,
)


def decode(data: bytes, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """Returns the text of `data` without its byte order mark, and warnings about guesses.

    `declared` is the encoding the file claims to be in; it is believed only where it can be right.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strictly_or_repaired(data, encoding)
    wide = _wide_encoding(data)
    if wide:
        return _strictly_or_repaired(data, wide)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    encoding = _declared(data, declared) or _western(data) or _guessed(data)
    if encoding:
        text, warnings = _strictly_or_repaired(data, encoding)
        return text, (f"the encoding is not stated clearly and was read as {encoding}", *warnings)
    return _strictly_or_repaired(data, "utf-8")


def _strictly_or_repaired(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        return text, (f"bytes that are no {encoding} were replaced by \N{REPLACEMENT CHARACTER}",)


def _wide_encoding(data: bytes) -> str:
    """Recognises UTF-16 of mostly Latin text by the place of its zero bytes."""
    sample = data[:4096]
    half = len(sample) // 2
    if half == 0 or b"\x00" not in sample:
        return ""
    if sample[1::2].count(0) > half * 0.7 and sample[::2].count(0) < half * 0.1:
        return "utf-16-le"
    if sample[::2].count(0) > half * 0.7 and sample[1::2].count(0) < half * 0.1:
        return "utf-16-be"
    return ""


def _declared(data: bytes, declared: str) -> str:
    name = declared.strip().lower()
    if not _TRUSTED.match(name):
        return ""
    # Browsers read these as windows-1252 too, and pages mean it.
    name = "cp1252" if name in {"iso-8859-1", "latin1", "latin-1"} else name
    try:
        data.decode(name)
    except (LookupError, UnicodeDecodeError):
        return ""
    return name


def _western(data: bytes) -> str:
    plausible = {encoding: _plausibility(data, encoding) for encoding in _WESTERN}
    best = max(_WESTERN, key=lambda encoding: plausible[encoding])
    return best if plausible[best] >= _MOSTLY else ""


def _plausibility(data: bytes, encoding: str) -> float:
    """Returns the share of special characters that make sense where they stand."""
    text = data[:_SAMPLE_BYTES].decode(encoding, errors="replace")
    special = _SPECIAL.findall(text)
    french = sum(letter in _FRENCH for letter in special)
    others = sum(letter in _NEIGHBOURS for letter in special) if encoding == "cp1252" else 0
    sensible = french + others - len(_MISPLACED.findall(text))
    return sensible / len(special) if special else 0.0


def _guessed(data: bytes) -> str:
    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    return best.encoding if best is not None else ""
