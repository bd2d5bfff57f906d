"""Vectors of an upload: blocks of batches, joined to one matrix a space."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import documents_pb2
from retriever_svc.documents import WINDOWS_AWAITED, FloatMatrix, IntVector, PassageVectors
from retriever_svc.unit_vectors import MAX_DIMENSION
from retriever_svc.wire.field_checks import checked_count
from retriever_svc.wire.float_blocks import matrix_from, vector_from


@dataclass(slots=True)
class _SpaceParts:
    dimension: int
    positions: list[IntVector] = field(default_factory=list)
    vectors: list[FloatMatrix] = field(default_factory=list)
    window_counts: list[IntVector] = field(default_factory=list)
    window_vectors: list[FloatMatrix] = field(default_factory=list)
    canary: npt.NDArray[np.float32] | None = None
    sliced_rows: set[int] = field(default_factory=set)

    @property
    def row_count(self) -> int:
        return sum(map(len, self.vectors))


class VectorAssembly:
    """Gathers the vector blocks of all batches of one document."""

    def __init__(self) -> None:
        self._parts: dict[str, _SpaceParts] = {}

    def add(
        self, blocks: Sequence[documents_pb2.VectorBlock], first: int, count: int, where: str
    ) -> None:
        """Takes the blocks of a batch of `count` passages, the first of chunk_index `first`.

        Raises InvalidArgument.
        """
        seen: set[str] = set()
        for index, block in enumerate(blocks):
            place = f"{where}.vectors[{index}]"
            if not block.space_id or block.space_id in seen:
                raise InvalidArgument(
                    f"{place}.space_id is {block.space_id!r}; "
                    "expected a space, and each only once in a batch",
                    field=f"{place}.space_id",
                )
            seen.add(block.space_id)
            self._add_block(block, first, count, place)

    def joined(self) -> tuple[PassageVectors, ...]:
        """Returns the vectors by space, in the order the spaces came."""
        return tuple(
            PassageVectors(
                space_id,
                np.concatenate(parts.positions),
                np.concatenate(parts.vectors),
                np.concatenate(parts.window_counts),
                np.concatenate(parts.window_vectors),
                parts.canary,
                frozenset(parts.sliced_rows),
            )
            for space_id, parts in self._parts.items()
        )

    def _add_block(
        self, block: documents_pb2.VectorBlock, first: int, count: int, place: str
    ) -> None:
        dimension = checked_count(block.dimension, f"{place}.dimension", low=1, high=MAX_DIMENSION)
        parts = self._parts.setdefault(block.space_id, _SpaceParts(dimension))
        if parts.dimension != dimension:
            raise InvalidArgument(
                f"{place}.dimension is {dimension}; earlier vectors of space {block.space_id!r} "
                f"have {parts.dimension}",
                field=f"{place}.dimension",
            )
        vectors = matrix_from(block.vectors, dimension, f"{place}.vectors")
        parts.sliced_rows |= _sliced_rows(block, parts.row_count, len(vectors), place)
        parts.vectors.append(vectors)
        parts.positions.append(first + _positions(block, len(vectors), count, place))
        windows = matrix_from(block.window_vectors, dimension, f"{place}.window_vectors")
        parts.window_counts.append(_window_counts(block, len(vectors), len(windows), place))
        parts.window_vectors.append(windows)
        if block.HasField("canary_vector"):
            parts.canary = vector_from(block.canary_vector, f"{place}.canary_vector")


def _positions(
    block: documents_pb2.VectorBlock, row_count: int, passage_count: int, place: str
) -> IntVector:
    named = list(block.passage_positions)
    if not named and row_count != passage_count:
        raise InvalidArgument(
            f"{place} has {row_count} vectors for {passage_count} passages; "
            "name the passages in passage_positions, or send one vector for each",
            field=f"{place}.vectors",
        )
    positions = np.array(named or range(row_count), np.int64)
    growing = bool(np.all(positions[1:] > positions[:-1]))
    inside = not len(positions) or (positions[0] >= 0 and positions[-1] < passage_count)
    if len(positions) != row_count or not growing or not inside:
        raise InvalidArgument(
            f"{place}.passage_positions must name {row_count} passages of the batch, growing, "
            f"from 0 to {passage_count - 1}",
            field=f"{place}.passage_positions",
        )
    return positions


def _sliced_rows(
    block: documents_pb2.VectorBlock, first: int, row_count: int, place: str
) -> set[int]:
    wrong = [row for row in block.sliced_rows if not 0 <= row < row_count]
    if wrong:
        raise InvalidArgument(
            f"{place}.sliced_rows names row {wrong[0]}; the block has {row_count}",
            field=f"{place}.sliced_rows",
        )
    return {first + row for row in block.sliced_rows}


def _window_counts(
    block: documents_pb2.VectorBlock, row_count: int, window_count: int, place: str
) -> IntVector:
    counts = np.array(block.window_counts, np.int64)
    if not len(counts) and not window_count:
        return np.full(row_count, WINDOWS_AWAITED, np.int64)
    if len(counts) != row_count or counts.min() < 0 or counts.sum() != window_count:
        raise InvalidArgument(
            f"{place}.window_counts must hold {row_count} counts that add up to the "
            f"{window_count} window vectors",
            field=f"{place}.window_counts",
        )
    return counts
