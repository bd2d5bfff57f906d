"""Looks into zip archives before any parser does.

Sizes are those the archive declares; a parser that meets more is stopped by the memory limit of its
process.
"""

from __future__ import annotations

import zipfile
import zlib
from itertools import pairwise
from pathlib import Path

from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.refusals import over_limit, password_protected, unreadable

ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
)
"""What reading a damaged archive may raise."""

_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1
# Small entries may be packed tightly without being a danger.
_HARMLESS_BYTES = 1024 * 1024


def check_archive(path: Path, limits: ExtractionLimits) -> frozenset[str]:
    """Returns the names of an archive's entries; refuses bombs and damaged archives."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except ARCHIVE_ERRORS as error:
        raise unreadable(
            "the file is damaged: the archive inside it is cut off or broken"
        ) from error
    if len(entries) > limits.archive_entries:
        raise over_limit(
            f"the archive holds {len(entries)} entries, at most {limits.archive_entries} are read"
        )
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.archive_bytes:
        raise over_limit(
            f"the archive unpacks to {unpacked} bytes, at most {limits.archive_bytes} are read"
        )
    for entry in entries:
        _check_entry(entry, limits)
    _check_overlap(entries)
    return frozenset(entry.filename for entry in entries)


def _check_entry(entry: zipfile.ZipInfo, limits: ExtractionLimits) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise password_protected("the archive is protected by a password; save it without one")
    ratio = entry.file_size / max(entry.compress_size, 1)
    if entry.file_size > _HARMLESS_BYTES and ratio > limits.archive_ratio:
        raise over_limit(
            f"an entry unpacks to {ratio:.0f} times its size, at most {limits.archive_ratio} times "
            "is read"
        )


def _check_overlap(entries: list[zipfile.ZipInfo]) -> None:
    """Refuses entries that share bytes: a bomb that each entry alone does not show."""
    ordered = sorted(entries, key=lambda entry: entry.header_offset)
    for entry, following in pairwise(ordered):
        end = entry.header_offset + _LOCAL_HEADER_BYTES + entry.compress_size
        if end > following.header_offset:
            raise unreadable("entries of the archive overlap, as no office program writes them")
