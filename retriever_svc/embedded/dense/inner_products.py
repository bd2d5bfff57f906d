"""Exact inner products, each by the same steps whatever is multiplied beside it.

So a passage has one cosine, wherever its vector lies, and equal vectors are equally near.
"""

from typing import Any

import faiss as typed_faiss
import numpy as np
import numpy.typing as npt

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.embedded.dense.segment_rows import QueryVector

# The stubs of FAISS do not know what is called here.
faiss: Any = typed_faiss


def inner_products(vectors: FloatMatrix, query: QueryVector) -> npt.NDArray[np.float32]:
    """Multiplies every row with the query."""
    return products_of_rows(vectors, np.arange(len(vectors)), query)


def products_of_rows(
    vectors: FloatMatrix, rows: IntVector, query: QueryVector
) -> npt.NDArray[np.float32]:
    """Multiplies these rows with the query where they lie; all arrays are in C order.

    FAISS does not look whether a row is there: it must be.
    """
    products = np.empty(len(rows), np.float32)
    pointer = faiss.swig_ptr
    faiss.fvec_inner_products_by_idx(
        pointer(products),
        pointer(query),
        pointer(vectors),
        pointer(rows),
        len(query),
        1,
        len(rows),
    )
    return products
