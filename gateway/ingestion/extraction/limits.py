"""How much of a file is read, and what reading it may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Bounds of one file.

    `wall_seconds` and `cpu_seconds` count for one file, `memory_bytes` is the address space of the
    process that reads it. `archive_ratio` is unpacked over packed size of any one entry.
    `ocr_seconds` count for one page, `ocr_pages` for one file.
    """

    wall_seconds: float = 60.0
    cpu_seconds: int = 30
    memory_bytes: int = 1024 * 1024 * 1024
    pages: int = 2_000
    cells: int = 2_000_000
    characters: int = 10_000_000
    ocr_seconds: float = 20.0
    ocr_pages: int = 200
    image_pixels: int = 100_000_000
    archive_entries: int = 2_000
    archive_ratio: int = 100
    archive_bytes: int = 200 * 1024 * 1024
