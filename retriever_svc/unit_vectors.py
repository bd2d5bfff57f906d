"""Checks vectors at the last door before they are stored or searched, and scales them to norm 1.

The indexes take any bits without complaint, and a single row that is not finite spoils a graph.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chassis.errors import InvalidArgument
from retriever_svc.documents import WINDOWS_AWAITED, FloatMatrix, IntVector, PassageVectors

MAX_DIMENSION = 8192
LOWEST_CANARY_COSINE = 0.999
# Rounding each value of a unit row to float32 moves its norm by half of this at most.
_ROUNDING = 2.0**-23


@dataclass(frozen=True, slots=True)
class UnitVectors:
    """Holds checked vectors of one space: row i, of norm 1, belongs to passage `positions[i]`.

    `windows[i]` holds the unit window vectors, [windows, dimension], of row i, and is None where
    they are awaited; the tuple is empty where all are.
    """

    space_id: str
    positions: IntVector
    vectors: FloatMatrix
    windows: tuple[FloatMatrix | None, ...]
    canary: bytes = b""
    """Canary of the space, float32, little-endian, norm 1; empty where none came along."""
    sliced_rows: frozenset[int] = frozenset()
    """Rows that are means of slices."""

    @property
    def dimension(self) -> int:
        """Width of a vector."""
        return int(self.vectors.shape[1])


def checked_vectors(given: PassageVectors, passage_count: int) -> UnitVectors:
    """Returns the vectors with norm 1. Raises InvalidArgument naming the passage that is wrong."""
    space = given.space_id
    if not space:
        raise InvalidArgument("vectors name no space_id", field="passages.vectors.space_id")
    matrix = given.vectors
    if matrix.ndim != 2 or not 1 <= matrix.shape[1] <= MAX_DIMENSION:
        raise InvalidArgument(
            f"vectors of space {space!r} have shape {matrix.shape}; "
            f"expected rows of 1 to {MAX_DIMENSION} values",
            field="passages.vectors.dimension",
        )
    _check_positions(space, given.positions, len(matrix), passage_count)
    names = [f"passage {position}" for position in given.positions.tolist()]
    return UnitVectors(
        space,
        given.positions,
        unit_rows(matrix, names, space),
        _checked_windows(given, names),
        _checked_canary(given),
        given.sliced_rows,
    )


def same_model(kept: bytes, given: bytes) -> bool:
    """Whether two canaries are near enough to come from one model."""
    one, other = (np.frombuffer(canary, "<f4") for canary in (kept, given))
    return one.shape == other.shape and float(np.dot(one, other)) >= LOWEST_CANARY_COSINE


def checked_query_vector(
    vector: npt.NDArray[np.float32], space_id: str, dimension: int
) -> npt.NDArray[np.float32]:
    """Returns the query vector, [dimension], with norm 1. Raises InvalidArgument."""
    if vector.shape != (dimension,):
        raise InvalidArgument(
            f"query vector for space {space_id!r} has {vector.size} values; "
            f"the space holds vectors of {dimension}",
            field="variants.vectors.vector",
        )
    wide = vector.astype(np.float64)
    norm = float(np.dot(wide, wide)) ** 0.5
    if not (math.isfinite(norm) and norm > 0):
        # Says what is wrong with it.
        unit_rows(vector[np.newaxis, :], ["the query"], space_id)
    unit: npt.NDArray[np.float32] = (wide / norm).astype(np.float32)
    return unit


def unit_rows(matrix: FloatMatrix, names: Sequence[str], space_id: str) -> FloatMatrix:
    """Returns a copy with every row scaled to norm 1, float32 in C order.

    Raises InvalidArgument naming (by `names`) the first row that is zero or not finite.
    """
    # In float64 the squares of the largest and smallest float32 neither overflow nor vanish.
    wide = matrix.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    sound = np.isfinite(norms) & (norms > 0)
    if not sound.all():
        row = int(np.argmin(sound))
        problem = "is all zeros" if norms[row] == 0 else "holds a value that is not finite"
        raise InvalidArgument(
            f"vector of {names[row]} in space {space_id!r} (row {row}) {problem}; "
            "every row must be finite and not zero",
            field="vectors",
            reason="VECTOR_UNUSABLE",
        )
    # Rows of norm 1, as near as float32 comes to it, keep their bits: they may have been stored.
    wide /= np.where(np.abs(norms - 1) <= _ROUNDING, 1.0, norms)[:, np.newaxis]
    return np.ascontiguousarray(wide, dtype=np.float32)


def _checked_canary(given: PassageVectors) -> bytes:
    if given.canary is None:
        return b""
    if given.canary.shape != given.vectors.shape[1:]:
        raise InvalidArgument(
            f"canary of space {given.space_id!r} has {given.canary.size} values; "
            f"its vectors have {given.vectors.shape[1]}",
            field="vectors.canary_vector",
        )
    row = unit_rows(given.canary[np.newaxis, :], ["the canary"], given.space_id)
    return row.astype("<f4", copy=False).tobytes()


def _check_positions(space: str, positions: IntVector, rows: int, passage_count: int) -> None:
    if positions.shape != (rows,):
        raise InvalidArgument(
            f"space {space!r} has {rows} vectors for {positions.size} passages",
            field="passages.vectors.passage_positions",
        )
    growing = bool(np.all(positions[1:] > positions[:-1]))
    if rows and not (growing and positions[0] >= 0 and positions[-1] < passage_count):
        raise InvalidArgument(
            f"vectors of space {space!r} belong to passages {positions.tolist()[:20]}; "
            f"expected growing positions from 0 to {passage_count - 1}",
            field="passages.vectors.passage_positions",
        )


def _checked_windows(given: PassageVectors, names: Sequence[str]) -> tuple[FloatMatrix | None, ...]:
    if given.window_counts is None or given.window_vectors is None:
        return ()
    return checked_windows(
        given.window_counts,
        given.window_vectors,
        names,
        (len(given.vectors), given.vectors.shape[1]),
        given.space_id,
    )


def checked_windows(
    counts: IntVector,
    windows: FloatMatrix,
    names: Sequence[str],
    shape: tuple[int, int],
    space_id: str,
) -> tuple[FloatMatrix | None, ...]:
    """Returns the windows of each row with norm 1, None for a row whose windows are awaited.

    `shape` is that of the rows' vectors. Raises InvalidArgument.
    """
    row_count, width = shape
    if counts.shape != (row_count,) or bool(np.any(counts < WINDOWS_AWAITED)):
        raise InvalidArgument(
            f"space {space_id!r} has {counts.size} window counts "
            f"for {row_count} vectors; expected one count of at least 0 for each",
            field="passages.vectors.window_counts",
        )
    sizes = np.maximum(counts, 0)
    if windows.shape != (int(sizes.sum()), width):
        raise InvalidArgument(
            f"window vectors of space {space_id!r} have shape {windows.shape}; "
            f"the window counts ask for {(int(sizes.sum()), width)}",
            field="passages.vectors.window_vectors",
        )
    window_names = [
        f"{name}, window {window},"
        for name, size in zip(names, sizes.tolist(), strict=True)
        for window in range(size)
    ]
    rows = unit_rows(windows, window_names, space_id)
    ends = np.cumsum(sizes).tolist()
    return tuple(
        None if count == WINDOWS_AWAITED else rows[end - count : end]
        for count, end in zip(counts.tolist(), ends, strict=True)
    )
