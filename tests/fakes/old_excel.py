"""Small workbooks of the Excel 97 format, written by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_SECTOR = 512
_LEAST_STREAM = 4096
_FREE, _END, _FAT_SECTOR = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def old_excel_file(*rows: Sequence[str | float], sheet: str = "Feuille") -> bytes:
    """Returns a workbook with one sheet."""
    return _compound_file("Workbook", _workbook(rows, sheet))


def _workbook(rows: Sequence[Sequence[str | float]], sheet: str) -> bytes:
    head = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0))
    name = struct.pack("<BB", len(sheet), 1) + sheet.encode("utf-16-le")
    end = _record(0x000A, b"")
    place = len(head) + 4 + 6 + len(name) + len(end)
    globals_part = head + _record(0x0085, struct.pack("<IH", place, 0) + name) + end
    cells = b"".join(
        _cell(row, column, value)
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
    )
    body = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0))
    return globals_part + body + cells + end


def _cell(row: int, column: int, value: str | float) -> bytes:
    place = struct.pack("<HHH", row, column, 0)
    if isinstance(value, str):
        text = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
        return _record(0x0204, place + text)
    return _record(0x0203, place + struct.pack("<d", value))


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
