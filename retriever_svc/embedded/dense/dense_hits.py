"""What a search of a dense index finds, and how it is ordered."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import IntVector


@dataclass(frozen=True, slots=True)
class DenseHits:
    """Holds the nearest passages, best first, ties by id."""

    ids: list[int]
    cosines: list[float]
    """Of each passage with the query."""
    exact: bool


def best_hits(
    ids: list[IntVector], cosines: list[npt.NDArray[np.float32]], count: int, *, exact: bool
) -> DenseHits:
    """Returns the `count` hits of greatest cosine from what several segments found."""
    if not ids:
        return DenseHits([], [], exact)
    found, products = (
        (ids[0], cosines[0]) if len(ids) == 1 else (np.concatenate(ids), np.concatenate(cosines))
    )
    chosen = np.lexsort((found, -products))[:count]
    return DenseHits(found[chosen].tolist(), products[chosen].tolist(), exact)
