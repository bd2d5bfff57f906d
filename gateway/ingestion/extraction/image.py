"""Prepares images for reading: each frame upright, in shades of grey, large enough."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gateway.ingestion.extraction import ocr
from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import ocr_unavailable, over_limit, unreadable
from gateway.ingestion.extraction.ruled_lines import as_pgm, without_ruled_lines

try:
    import PIL.Image
    import PIL.ImageOps
except ModuleNotFoundError:
    _HAS_PILLOW = False
else:
    _HAS_PILLOW = True
    # The limit of our own names itself in the refusal.
    PIL.Image.MAX_IMAGE_PIXELS = None

_SMALL_PIXELS = 1_000_000
_ENLARGED = 2


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Names the frames of an image as pages to be read; refuses them without an OCR program."""
    lacking = ocr.missing() if _HAS_PILLOW else "the extra justesse[ocr]"
    if lacking:
        raise ocr_unavailable(f"reading images needs {lacking}, which is not installed here")
    with _opened(path) as image:
        frame_count = int(getattr(image, "n_frames", 1))
    if frame_count > limits.pages:
        raise over_limit(f"the image has {frame_count} pages, at most {limits.pages} are read")
    return Extraction((), image_pages=tuple(range(1, frame_count + 1)))


def page_image(path: Path, number: int, limits: ExtractionLimits) -> bytes:
    """Returns frame `number`, from 1, as PGM."""
    with _opened(path) as image:
        image.seek(number - 1)
        pixels = image.width * image.height
        if pixels > limits.image_pixels:
            raise over_limit(
                f"the image has {pixels} pixels, at most {limits.image_pixels} are read"
            )
        upright = PIL.ImageOps.exif_transpose(image)
        if upright.mode in {"RGBA", "LA", "P", "PA"}:
            # Transparent places are paper, not ink.
            upright = upright.convert("RGBA")
            paper = PIL.Image.new("RGBA", upright.size, "white")
            upright = PIL.Image.alpha_composite(paper, upright)
        grey = upright.convert("L")
        if pixels < _SMALL_PIXELS:
            grey = grey.resize((grey.width * _ENLARGED, grey.height * _ENLARGED))
        return as_pgm(without_ruled_lines(np.asarray(grey)))


@contextmanager
def _opened(path: Path) -> Iterator[PIL.Image.Image]:
    try:
        with PIL.Image.open(path) as image:
            yield image
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise unreadable("the image is damaged and cannot be opened") from error
