"""Removes the lines of tables and forms from images: between them OCR finds few of the words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
"""Shades of grey, height x width, 0 is black."""

_DARK = 160
_WHITE = 255
# Longer than the stroke of any letter that is small beside its page.
_LEAST_SHARE = 16
_LEAST_LENGTH = 60


def without_ruled_lines(pixels: Pixels) -> Pixels:
    """Returns a copy with all long straight dark lines, across and down, made white."""
    dark = pixels < _DARK
    length = max(max(pixels.shape) // _LEAST_SHARE, _LEAST_LENGTH)
    ruled = _long_runs(dark, length) | _long_runs(dark.T, length).T
    # The faded edges of a line would be left as a line of their own.
    wide = ruled.copy()
    wide[1:] |= ruled[:-1]
    wide[:-1] |= ruled[1:]
    wide[:, 1:] |= ruled[:, :-1]
    wide[:, :-1] |= ruled[:, 1:]
    return np.where(wide, np.uint8(_WHITE), pixels)


def as_pgm(pixels: Pixels) -> bytes:
    """Returns an image in the format PGM, which needs no library."""
    height, width = pixels.shape
    return b"P5 %d %d 255\n" % (width, height) + pixels.tobytes()


def _long_runs(dark: npt.NDArray[np.bool_], length: int) -> npt.NDArray[np.bool_]:
    """Marks what belongs to `length` or more dark pixels side by side."""
    height, width = dark.shape
    if width < length:
        return np.zeros_like(dark)
    sums = np.zeros((height, width + 1), np.int32)
    np.cumsum(dark, axis=1, out=sums[:, 1:])
    begins = sums[:, length:] - sums[:, :-length] == length
    changes = np.zeros((height, width + 1), np.int32)
    changes[:, : begins.shape[1]] += begins
    changes[:, length:] -= begins
    return np.asarray(np.cumsum(changes, axis=1)[:, :width] > 0)
