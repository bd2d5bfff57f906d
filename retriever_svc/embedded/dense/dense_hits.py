"""What a search of a dense index finds, and how it is ordered."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.embedded.dense.segment_rows import QueryVector


@dataclass(frozen=True, slots=True)
class DenseHits:
    """Holds the nearest passages, best first, ties by id."""

    ids: list[int]
    exact: bool


def best_ids(ids: list[IntVector], cosines: list[npt.NDArray[np.float32]], count: int) -> list[int]:
    """Returns the `count` ids of greatest cosine, ties by id, from what several segments found."""
    if not ids:
        return []
    found, products = (
        (ids[0], cosines[0]) if len(ids) == 1 else (np.concatenate(ids), np.concatenate(cosines))
    )
    chosen = np.lexsort((found, -products))[:count]
    best: list[int] = found[chosen].tolist()
    return best


def inner_products(vectors: FloatMatrix, query: QueryVector) -> npt.NDArray[np.float32]:
    """Multiplies row by row: the result of a row does not depend on the rows beside it."""
    products: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, query)
    return products
