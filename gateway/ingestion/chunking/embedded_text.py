"""The text a passage is embedded as: title and headings in front of its own words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from gateway.documents import Passage


def embedded_text(headings: Sequence[str], text: str) -> str:
    """Returns the text to embed: the headings above the passage, outermost first, and its text."""
    return f"{' > '.join(headings)}\n{text}" if headings else text


def embedded_text_again(passage: Passage, title: str) -> str:
    """Returns the text that a stored passage was embedded as, found by its fingerprint.

    Which of the headings the text itself begins with is not stored, nor whether the title stood in
    front, so all ways are tried. Where none fits, title and all headings are put in front.
    """
    path = passage.heading_path
    ways = [
        embedded_text((*front, *path[:depth]), passage.text)
        for front in (((title,), ()) if title else ((),))
        for depth in range(len(path), -1, -1)
    ]
    fitting = (way for way in ways if embedded_text_hash(way) == passage.embedded_text_hash)
    return next(fitting, ways[0])


def embedded_text_hash(text: str) -> str:
    """Returns the SHA-256 of an embedded text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
