"""Reads the text in images with Tesseract, in French and English.

Images and texts go through pipes: the process that reads files may write none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import over_limit, unreadable

_LANGUAGES = ("fra", "eng")
_PROGRAM = "tesseract"
_LISTING_SECONDS = 10


def missing() -> str:
    """Returns what must be installed before images can be read; empty where all is there."""
    if shutil.which(_PROGRAM) is None:
        return "the program tesseract (Debian packages tesseract-ocr and tesseract-ocr-fra)"
    if not _languages():
        return "Tesseract's data for French or English (Debian package tesseract-ocr-fra)"
    return ""


def text_in(image: bytes, limits: ExtractionLimits) -> str:
    """Returns the text in an image of any format that Tesseract reads, PGM among them.

    Raises FileRefused where the image is damaged, or takes longer than `limits.ocr_seconds`.
    """
    command = [_PROGRAM, "stdin", "stdout", "-l", "+".join(_languages()), "--psm", "3"]
    try:
        answer = subprocess.run(
            command,
            input=image,
            capture_output=True,
            check=False,
            timeout=limits.ocr_seconds,
            # The threads of one page only wait for each other on a machine that reads several.
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise over_limit(
            f"reading the image takes more than {limits.ocr_seconds:g} s; send it smaller"
        ) from error
    if answer.returncode != 0:
        raise unreadable("the image is damaged, or larger than its reader can hold")
    return answer.stdout.decode("utf-8", errors="replace")


@cache
def _languages() -> tuple[str, ...]:
    answer = subprocess.run(
        [_PROGRAM, "--list-langs"], capture_output=True, check=False, timeout=_LISTING_SECONDS
    )
    installed = answer.stdout.decode("utf-8", errors="replace").split()
    return tuple(language for language in _LANGUAGES if language in installed)
