"""Lines of tables in images."""

import numpy as np

from gateway.ingestion.extraction.ruled_lines import as_pgm, without_ruled_lines


def test_long_lines_vanish_and_letters_stay() -> None:
    """Lines across and down go with their grey edges; strokes of letters are shorter."""
    pixels = np.full((200, 300), 255, np.uint8)
    pixels[50:60, 100:130] = 20
    letters = pixels.copy()
    pixels[100, :] = 0
    pixels[101, :] = 200
    pixels[:, 200:202] = 40

    cleaned = without_ruled_lines(pixels)

    assert np.array_equal(cleaned, letters)
    assert np.any(pixels[100] == 0)


def test_an_image_smaller_than_any_line_stays() -> None:
    """Nothing in it can be a line of a table."""
    pixels = np.zeros((20, 30), np.uint8)

    assert np.array_equal(without_ruled_lines(pixels), pixels)


def test_pgm_says_width_before_height() -> None:
    """Rows follow the head without padding."""
    assert as_pgm(np.arange(6, dtype=np.uint8).reshape(2, 3)) == b"P5 3 2 255\n" + bytes(range(6))
