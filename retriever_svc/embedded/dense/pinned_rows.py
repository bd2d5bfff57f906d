"""What an index holds at one moment, for a thread that looks at it later."""

from dataclasses import dataclass

import numpy as np

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.decoded_vectors import VectorRows
from retriever_svc.embedded.dense.growing_segment import GrowingSegment
from retriever_svc.embedded.dense.segment_rows import Flags, QueryVector, SegmentRows
from retriever_svc.embedded.dense.subset import Subset

# Cosines that differ by less are equal: rows are multiplied in another order here.
_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class PinnedRows:
    """Holds the rows of one segment. Rows never change; which of them are live was copied."""

    ids: IntVector
    vectors: VectorRows
    alive: Flags
    found: IntVector
    """Rows of the ids that a search had found."""

    @classmethod
    def of(cls, segment: GrowingSegment | SegmentRows, found_ids: IntVector) -> "PinnedRows":
        """Pins a segment as it is now."""
        rows = segment.locate(found_ids)
        return cls(segment.ids, segment.vectors, segment.alive.copy(), rows[rows >= 0])


def recall_of(
    segments: tuple[PinnedRows, ...], query: QueryVector, count: int, subset: Subset | None
) -> float:
    """Returns the share of the `count` nearest live rows, of the subset, that had been found.

    Rows as near as the last of them count as well. 1 where there is nothing to be found.
    """
    nearest: list[QueryVector] = []
    found: list[QueryVector] = []
    for rows in segments:
        cosines = rows.vectors @ query
        live = rows.alive if subset is None else rows.alive & subset.contains(rows.ids)
        nearest.append(_largest(cosines[live], count))
        found.append(cosines[rows.found])
    truth = _largest(np.concatenate(nearest), count) if nearest else np.empty(0, np.float32)
    if not len(truth):
        return 1.0
    as_near = int((np.concatenate(found) >= truth.min() - _TOLERANCE).sum())
    return min(1.0, as_near / len(truth))


def _largest(values: QueryVector, count: int) -> QueryVector:
    if len(values) <= count:
        return values
    largest: QueryVector = np.partition(values, len(values) - count)[len(values) - count :]
    return largest
