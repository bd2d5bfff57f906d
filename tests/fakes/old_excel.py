"""Small workbooks of the formats of Excel 95 and 97, written by hand."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

_SECTOR = 512
_LEAST_STREAM = 4096
_FREE, _END, _FAT_SECTOR = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def old_excel_file(*rows: Sequence[str | float], sheet: str = "Feuille", year: int = 97) -> bytes:
    """Returns a workbook with one sheet, as Excel of the year 97 or 95 wrote them."""
    if year == 95:
        return _compound_file("Book", _workbook(rows, sheet, 0x0500, _short))
    return _compound_file("Workbook", _workbook(rows, sheet, 0x0600, _wide))


def _workbook(
    rows: Sequence[Sequence[str | float]],
    sheet: str,
    version: int,
    text: Callable[[str, str], bytes],
) -> bytes:
    head = _record(0x0809, struct.pack("<HHHHII", version, 0x0005, 0, 0, 0, 0))
    head += _record(0x0042, struct.pack("<H", 1252 if version == 0x0500 else 1200))
    name = text("<B", sheet)
    end = _record(0x000A, b"")
    place = len(head) + 4 + 6 + len(name) + len(end)
    globals_part = head + _record(0x0085, struct.pack("<IH", place, 0) + name) + end
    cells = b"".join(
        _cell(row, column, value, text)
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
    )
    body = _record(0x0809, struct.pack("<HHHHII", version, 0x0010, 0, 0, 0, 0))
    return globals_part + body + cells + end


def _cell(row: int, column: int, value: str | float, text: Callable[[str, str], bytes]) -> bytes:
    place = struct.pack("<HHH", row, column, 0)
    if isinstance(value, str):
        return _record(0x0204, place + text("<H", value))
    return _record(0x0203, place + struct.pack("<d", value))


def _wide(length_form: str, value: str) -> bytes:
    """A text of Excel 97: two bytes a character."""
    return struct.pack(f"{length_form}B", len(value), 1) + value.encode("utf-16-le")


def _short(length_form: str, value: str) -> bytes:
    """A text of Excel 95: one byte a character, in the code page of the workbook."""
    return struct.pack(length_form, len(value)) + value.encode("cp1252")


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _compound_file(name: str, stream: bytes) -> bytes:
    """Returns a compound file of one stream: sector 0 is the table, 1 the directory."""
    stream = stream.ljust(_LEAST_STREAM, b"\0")
    count = -(-len(stream) // _SECTOR)
    chain = [*range(3, 2 + count), _END]
    table = [_FAT_SECTOR, _END, *chain]
    table += [_FREE] * (_SECTOR // 4 - len(table))
    header = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(_SECTOR, b"\0"))
    struct.pack_into("<HHHHH", header, 24, 0x3E, 3, 0xFFFE, 9, 6)
    struct.pack_into("<IIIIIIIII", header, 44, 1, 1, 0, _LEAST_STREAM, _END, 0, _END, 0, 0)
    header[80:] = b"\xff" * (_SECTOR - 80)
    directory = _entry("Root Entry", 5, 1, _END, 0) + _entry(name, 2, _FREE, 2, len(stream))
    directory = directory.ljust(_SECTOR, b"\0")
    sectors = struct.pack(f"<{len(table)}I", *table) + directory
    return bytes(header) + sectors + stream.ljust(count * _SECTOR, b"\0")


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    encoded = (name + "\0").encode("utf-16-le")
    return (
        encoded.ljust(64, b"\0")
        + struct.pack("<HBBIII", len(encoded), kind, 1, _FREE, _FREE, child)
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )
