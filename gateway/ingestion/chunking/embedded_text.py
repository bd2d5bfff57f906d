"""The text a passage is embedded as: title and headings in front of its own words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def embedded_text(headings: Sequence[str], text: str) -> str:
    """Returns the text to embed: the headings above the passage, outermost first, and its text."""
    return f"{' > '.join(headings)}\n{text}" if headings else text


def embedded_text_hash(text: str) -> str:
    """Returns the SHA-256 of an embedded text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
