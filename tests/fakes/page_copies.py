"""Puts bytes where SQLite may leave a copy of a deleted row: into the unused middle of a page."""

from pathlib import Path

from retriever_svc.embedded.store.connections import PAGE_SIZE

_TABLE_LEAF = 0x0D
_HEADER_BYTES = 8


def plant(store: Path, copy: bytes) -> None:
    """Writes the copy between the cells and the cell pointers of a leaf; nobody may have it open.

    See "B-tree Pages" in https://www.sqlite.org/fileformat2.html.
    """
    content = bytearray(store.read_bytes())
    # The first page begins with the header of the file.
    for start in range(PAGE_SIZE, len(content), PAGE_SIZE):
        if content[start] != _TABLE_LEAF:
            continue
        count = int.from_bytes(content[start + 3 : start + 5], "big")
        cells = int.from_bytes(content[start + 5 : start + 7], "big")
        unused = start + _HEADER_BYTES + 2 * count
        if count and cells - (unused - start) >= len(copy):
            content[unused : unused + len(copy)] = copy
            store.write_bytes(content)
            return
    raise AssertionError("no page has so much room")
