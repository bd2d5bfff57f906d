"""Writes and drops vectors of passages, and remembers what that means for the dense indexes."""

import numpy as np
import numpy.typing as npt

from retriever_svc.store.document_change import VectorsPut
from retriever_svc.store.rows import WorkspaceRow
from retriever_svc.store.space_ledger import SpaceLedger
from retriever_svc.store.stored_vectors import StoredVector, decoded, encoded
from retriever_svc.store.tables import StoreTables
from retriever_svc.unit_vectors import UnitVectors


class VectorWriter:
    """Writes the vectors of one change of a workspace.

    `held` maps passages to the keys of the spaces that hold a vector of theirs, and is kept true.
    """

    def __init__(
        self,
        tables: StoreTables,
        workspace: WorkspaceRow,
        seq: int,
        held: dict[int, set[int]],
    ) -> None:
        self.ledger = SpaceLedger(tables, workspace)
        self.held = held
        self.erased = False
        """Whether a stored vector was deleted or replaced."""
        self._tables = tables
        self._workspace_id = workspace.id
        self._seq = seq
        self._put: dict[int, dict[int, npt.NDArray[np.float32]]] = {}
        self._lost: set[tuple[int, int]] = set()

    def put_row(self, passage_id: int, space_key: int, given: UnitVectors, row: int) -> None:
        """Stores one row of given vectors in place of any earlier vector of the passage."""
        windows = given.windows[row] if given.windows else None
        stored = StoredVector(
            space_key,
            encoded(given.vectors[row]),
            window_count=None if windows is None else len(windows),
            windows=b"" if windows is None else encoded(windows),
            sliced=row in given.sliced_rows,
        )
        self._drop(passage_id, space_key)
        self._insert(passage_id, stored, given.vectors[row])

    def put_copy(self, passage_id: int, stored: StoredVector) -> None:
        """Stores a copy of another passage's vector."""
        dimension = self.ledger.space(stored.space_key).dimension
        self._insert(passage_id, stored, decoded(stored.vector, dimension)[0])

    def drop(self, passage_id: int, space_key: int) -> None:
        """Deletes the vector of a passage in a space, where it has one."""
        self._drop(passage_id, space_key)

    def drop_all(self, passage_id: int) -> None:
        """Deletes the vectors of a passage in every space."""
        for space_key in tuple(self.held.get(passage_id, ())):
            self._drop(passage_id, space_key)

    def lost(self) -> tuple[tuple[str, int], ...]:
        """Returns (space id, passage id) of vectors that are gone and were not replaced."""
        return tuple(
            (self.ledger.space(key).space_id, passage_id) for key, passage_id in sorted(self._lost)
        )

    def put(self) -> tuple[VectorsPut, ...]:
        """Returns the vectors that were stored, by space."""
        return tuple(
            VectorsPut(
                self.ledger.space(key).space_id,
                self.ledger.space(key).dimension,
                np.fromiter(rows, np.int64, len(rows)),
                np.stack(list(rows.values())),
            )
            for key, rows in self._put.items()
        )

    def _insert(
        self, passage_id: int, stored: StoredVector, vector: npt.NDArray[np.float32]
    ) -> None:
        self._tables.insert_vector(self._workspace_id, passage_id, stored, self._seq)
        strays = self._strays(passage_id)
        self.ledger.count(stored.space_key, 1)
        self.held.setdefault(passage_id, set()).add(stored.space_key)
        self._count_strays(passage_id, strays)
        self._put.setdefault(stored.space_key, {})[passage_id] = vector
        self._lost.discard((stored.space_key, passage_id))

    def _drop(self, passage_id: int, space_key: int) -> None:
        if space_key not in self.held.get(passage_id, ()):
            return
        self._tables.delete_vector(self._workspace_id, passage_id, space_key)
        self.erased = True
        strays = self._strays(passage_id)
        self.ledger.count(space_key, -1)
        self.held[passage_id].discard(space_key)
        self._count_strays(passage_id, strays)
        self._lost.add((space_key, passage_id))

    def _strays(self, passage_id: int) -> frozenset[int]:
        """Returns the spaces in which the passage is one that the preferred space lacks."""
        held = self.held.get(passage_id, set())
        return frozenset() if self.ledger.preferred_key in held else frozenset(held)

    def _count_strays(self, passage_id: int, before: frozenset[int]) -> None:
        after = self._strays(passage_id)
        self.ledger.count_strays(after - before, 1)
        self.ledger.count_strays(before - after, -1)
