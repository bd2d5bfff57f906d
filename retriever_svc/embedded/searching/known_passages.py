"""Keeps passages that searches have read, decoded."""

import sqlite3
from collections.abc import Iterable, Sequence
from sys import getsizeof

from retriever_svc.embedded.store.passage_rows import read_passages
from retriever_svc.store.rows import PassageRow

# What a passage takes beside its text, headings of usual length included.
_BARE_BYTES = 900


class KnownPassages:
    """Keeps passages of all workspaces, the latest read, up to a number of bytes.

    Ids never come back in a store, so what is kept is right until the passage itself changes: it
    must be forgotten then. Used by the search thread alone.
    """

    def __init__(self, capacity_bytes: int) -> None:
        """With a capacity of 0 nothing is kept."""
        self._capacity_bytes = capacity_bytes
        self._held_bytes = 0
        self._kept: dict[tuple[int, int], PassageRow] = {}

    def of(
        self, connection: sqlite3.Connection, workspace_id: int, passage_ids: Sequence[int]
    ) -> dict[int, PassageRow]:
        """Returns passages of a workspace by id; those that are gone are missing.

        `connection` must see the state after everything that was told to `forget`.
        """
        kept = self._kept
        found = {
            id_: row for id_ in passage_ids if (row := kept.get((workspace_id, id_))) is not None
        }
        missing = [id_ for id_ in passage_ids if id_ not in found]
        if missing:
            read = read_passages(connection, workspace_id, missing)
            found |= read
            self._keep(workspace_id, read.values())
        return found

    def forget(self, workspace_id: int, passage_ids: Iterable[int]) -> None:
        """Keeps these passages no longer: they are changed or gone."""
        for id_ in passage_ids:
            row = self._kept.pop((workspace_id, id_), None)
            if row is not None:
                self._held_bytes -= _bytes_of(row)

    def forget_all(self) -> None:
        """Keeps nothing of what was read so far."""
        self._kept.clear()
        self._held_bytes = 0

    def _keep(self, workspace_id: int, rows: Iterable[PassageRow]) -> None:
        for row in rows:
            self._kept[workspace_id, row.id] = row
            self._held_bytes += _bytes_of(row)
        while self._held_bytes > self._capacity_bytes:
            # The oldest goes; a passage in use comes back at the next search.
            oldest = next(iter(self._kept))
            self._held_bytes -= _bytes_of(self._kept.pop(oldest))


def _bytes_of(row: PassageRow) -> int:
    return _BARE_BYTES + getsizeof(row.passage.text)
