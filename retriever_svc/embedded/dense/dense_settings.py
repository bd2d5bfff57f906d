"""Settings of the dense indexes."""

from dataclasses import dataclass
from enum import StrEnum

from retriever_svc.workspaces import DenseIndexKind

_MEASURED_WIDTH = 384


class VectorStorage(StrEnum):
    """How a graph holds its vectors; the store always holds float32."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    """Half the memory."""
    INT8 = "int8"
    """A quarter of the memory."""


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """Holds when graphs are built and how they are searched.

    Row limits hold for vectors of 384 values and shrink in proportion to wider ones, because the
    time of an exact search grows with rows times width.
    """

    flat_row_limit: int = 5_000
    """Up to here an `auto` index stays exact."""
    growing_row_limit: int = 1_024
    """Rows a growing segment gathers at least before they join a graph."""
    segment_row_limit: int = 250_000
    """A graph of this size is extended no further; the next rows begin another."""
    dead_share_limit: float = 0.3
    """Share of deleted rows at which a segment is rebuilt."""
    neighbour_count: int = 16
    """HNSW's M."""
    construction_breadth: int = 100
    """HNSW's efConstruction."""
    search_breadth: int = 128
    """HNSW's efSearch, at least; a search for more hits widens it."""
    subset_row_limit: int = 20_000
    """A filter that leaves so few rows of a graph, or a tenth of them, is answered exactly."""
    vector_storage: VectorStorage = VectorStorage.FLOAT32
    """What graphs find in fewer bytes is ordered by the float32 vectors of the store."""
    snapshot_row_limit: int = 2_000_000
    """An index with more rows in graphs has no snapshot; 0 for no snapshots at all."""

    def graph_shape(self) -> dict[str, int | str]:
        """Returns the settings that a graph keeps from its building."""
        return {
            "neighbour_count": self.neighbour_count,
            "construction_breadth": self.construction_breadth,
            "vector_storage": self.vector_storage.value,
        }

    def flat_rows(self, dimension: int) -> int:
        """Returns `flat_row_limit` for this width."""
        return _scaled(self.flat_row_limit, dimension)

    def may_have_graphs(self, kind: DenseIndexKind, live_count: int, dimension: int) -> bool:
        """Whether an index of that many live rows keeps the graphs it has.

        Half of the limit: an index that goes up and down around it is not rebuilt each time.
        """
        if kind is DenseIndexKind.FLAT or not live_count:
            return False
        return kind is DenseIndexKind.HNSW or live_count > self.flat_rows(dimension) // 2

    def growing_rows(self, dimension: int, sealed_row_count: int) -> int:
        """Returns how many rows gather before they are sealed.

        Sealing copies the graph, so the number follows its size; exact search over the growing
        rows bounds it to four times `growing_row_limit`.
        """
        most = _scaled(4 * self.growing_row_limit, dimension)
        return max(1, min(most, max(self.growing_row_limit, sealed_row_count // 20)))


def _scaled(rows: int, dimension: int) -> int:
    return rows * _MEASURED_WIDTH // max(dimension, _MEASURED_WIDTH)
