"""Decides the language of a document.

First counts what its owner says, then the tag in the file. Else the text decides, if it is long
enough to tell; a short text takes the language of the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gateway.ingestion.extraction.blocks import Block
from text_analysis.language import detect_language

AUTO = "auto"
_LANGUAGES = ("fr", "en")
_TELLING_CHARACTERS = 200
_READ_BLOCKS = 200


def document_language(
    sent: str, tagged: str, workspace_language: str, blocks: Sequence[Block]
) -> str:
    """Returns "fr" or "en".

    `sent` comes from the owner, `tagged` from the file (for example "fr-CA"); `workspace_language`
    is "fr", "en" or "auto". A tag of another language says nothing.
    """
    primary = tagged.replace("_", "-").partition("-")[0].lower()
    stated = sent or (primary if primary in _LANGUAGES else "")
    if stated:
        return stated
    text = "\n".join(block.text for block in islice(blocks, _READ_BLOCKS))
    if workspace_language == AUTO:
        return detect_language(text, _LANGUAGES)
    own = workspace_language or _LANGUAGES[0]
    if len(text) < _TELLING_CHARACTERS:
        return own
    others = (language for language in _LANGUAGES if language != own)
    return detect_language(text, (own, *others))
