"""Rows of a segment as vectors, whether they are held as float32 or in fewer bytes."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import FloatMatrix, IntVector

_SLICE = 4_096


class VectorRows(Protocol):
    """What segments need of their vectors; a float32 matrix is one."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: IntVector, /) -> FloatMatrix:
        """Returns these rows, [rows, dimension]."""
        ...

    def __matmul__(self, query: npt.NDArray[np.float32], /) -> npt.NDArray[np.float32]:
        """Returns the inner product of each row with the query."""
        ...


class DecodedVectors:
    """Decodes rows from the storage of a FAISS index when they are asked for."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def __len__(self) -> int:
        return int(self._storage.ntotal)

    def __getitem__(self, rows: IntVector) -> FloatMatrix:
        if not len(rows):
            return np.empty((0, self._storage.d), np.float32)
        decoded: FloatMatrix = self._storage.reconstruct_batch(np.ascontiguousarray(rows))
        return decoded

    def __matmul__(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        products = np.empty(len(self), np.float32)
        for first in range(0, len(self), _SLICE):
            rows = np.arange(first, min(first + _SLICE, len(self)))
            products[rows] = self[rows] @ query
        return products
