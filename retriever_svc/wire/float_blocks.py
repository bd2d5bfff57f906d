"""Blocks of float32 values, little-endian, in C order."""

import numpy as np
import numpy.typing as npt

from chassis.errors import InvalidArgument
from retriever_svc.documents import FloatMatrix
from retriever_svc.unit_vectors import MAX_DIMENSION

_LITTLE_ENDIAN = np.dtype("<f4")


def matrix_from(block: bytes, dimension: int, field: str) -> FloatMatrix:
    """Returns the rows of a block, [rows, dimension], without copying. Raises InvalidArgument."""
    width = dimension * _LITTLE_ENDIAN.itemsize
    if len(block) % width:
        raise InvalidArgument(
            f"{field} has {len(block)} bytes, no whole number of rows of {dimension} float32 "
            f"values; row {len(block) // width} is incomplete",
            field=field,
        )
    rows = np.frombuffer(block, _LITTLE_ENDIAN).reshape(-1, dimension)
    return rows.astype(np.float32, copy=False)


def vector_from(block: bytes, field: str) -> npt.NDArray[np.float32]:
    """Returns the values of a block as one vector. Raises InvalidArgument."""
    size = _LITTLE_ENDIAN.itemsize
    if not block or len(block) % size or len(block) > MAX_DIMENSION * size:
        raise InvalidArgument(
            f"{field} has {len(block)} bytes; expected 1 to {MAX_DIMENSION} float32 values",
            field=field,
        )
    return np.frombuffer(block, _LITTLE_ENDIAN).astype(np.float32, copy=False)
