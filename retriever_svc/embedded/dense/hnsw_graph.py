"""The calls of FAISS: HNSW graphs over inner products of unit vectors.

Adding to a graph and searching it at the same time ends the process; graphs that are searched are
therefore never added to, only copied.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import faiss as typed_faiss
import numpy as np
import numpy.typing as npt

from retriever_svc.documents import FloatMatrix, IntVector
from retriever_svc.embedded.dense.decoded_vectors import DecodedVectors, VectorRows
from retriever_svc.embedded.dense.dense_settings import DenseSettings, VectorStorage

# The stubs of FAISS know neither the HNSW classes nor the Python constructors.
faiss: Any = typed_faiss

# Values of unit vectors lie around 1 / sqrt(dimension); those beyond this multiple are cut off.
_INT8_REACH = 8.0


class LiveRows:
    """Tells a graph search which rows it may find; a bit a row, lowest bit first."""

    def __init__(self, alive: npt.NDArray[np.bool_]) -> None:
        self._bits = np.packbits(alive, bitorder="little")
        self.selector = faiss.IDSelectorBitmap(self._bits)


@lru_cache
def _unfiltered(search_breadth: int) -> Any:
    # The unbounded queue finds the same rows in a tenth less time, but heeds no selector.
    return faiss.SearchParametersHNSW(efSearch=search_breadth, bounded_queue=False)


class HnswGraph:
    """A graph whose row i is the i-th vector added."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def empty(cls, dimension: int, settings: DenseSettings) -> "HnswGraph":
        """Returns a graph without rows."""
        metric, neighbours = faiss.METRIC_INNER_PRODUCT, settings.neighbour_count
        match settings.vector_storage:
            case VectorStorage.FLOAT32:
                index = faiss.IndexHNSWFlat(dimension, neighbours, metric)
            case VectorStorage.FLOAT16:
                kind = faiss.ScalarQuantizer.QT_fp16
                index = faiss.IndexHNSWSQ(dimension, kind, neighbours, metric)
            case VectorStorage.INT8:
                kind = faiss.ScalarQuantizer.QT_8bit
                index = faiss.IndexHNSWSQ(dimension, kind, neighbours, metric)
        if not index.is_trained:
            # The same range for every graph, so that a vector has the same bytes in all of them.
            reach = min(1.0, _INT8_REACH / dimension**0.5)
            index.train(np.array([[-reach] * dimension, [reach] * dimension], np.float32))
        index.hnsw.efConstruction = settings.construction_breadth
        return cls(index)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @classmethod
    def read(cls, source: Callable[[int], bytes]) -> "HnswGraph":
        """Returns the graph that `source(byte_count)` gives the bytes of.

        They must be exactly what `write` has written: FAISS takes damaged bytes without complaint,
        or ends the process. Raises RuntimeError where it does notice.
        """
        return cls(faiss.read_index(faiss.PyCallbackIOReader(source)))

    def write(self, sink: Callable[[bytes], object]) -> None:
        """Gives the bytes of the graph, storage included, to the sink."""
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(sink))

    @property
    def dimension(self) -> int:
        """Values of a vector."""
        return int(self._index.d)

    def copy(self) -> "HnswGraph":
        """Returns a graph of its own with the same rows."""
        return HnswGraph(faiss.clone_index(self._index))

    def add(self, vectors: FloatMatrix) -> None:
        """Adds rows, [rows, dimension]; only to a graph that nobody searches yet."""
        self._index.add(vectors)

    @property
    def lossy(self) -> bool:
        """Whether vectors are held in fewer bytes than they had."""
        return not isinstance(self._storage(), faiss.IndexFlat)

    def rounded(self, vectors: FloatMatrix) -> FloatMatrix:
        """Returns what the graph would give back for these vectors."""
        storage = self._storage()
        if isinstance(storage, faiss.IndexFlat):
            return vectors
        rounded: FloatMatrix = storage.sa_decode(storage.sa_encode(vectors))
        return rounded

    def vectors(self) -> VectorRows:
        """Returns all rows, [rows, dimension], without copying; valid as long as the graph."""
        storage = self._storage()
        if not isinstance(storage, faiss.IndexFlat):
            return DecodedVectors(storage)
        values = faiss.rev_swig_ptr(storage.get_xb(), storage.ntotal * storage.d)
        vectors: FloatMatrix = values.reshape(storage.ntotal, storage.d)
        return vectors

    def near(
        self,
        query: npt.NDArray[np.float32],
        count: int,
        search_breadth: int,
        live: LiveRows | None = None,
    ) -> IntVector:
        """Returns up to `count` rows near the query, best first; of `live` ones alone if given."""
        breadth = max(search_breadth, count)
        if live is None:
            parameters = _unfiltered(breadth)
        else:
            parameters = faiss.SearchParametersHNSW(efSearch=breadth, sel=live.selector)
        _, rows = self._index.search(query[np.newaxis, :], count, params=parameters)
        # FAISS fills up with -1 where it finds too few.
        found: IntVector = rows[0][rows[0] >= 0]
        return found

    def nearest(self, query: npt.NDArray[np.float32], count: int, selected: LiveRows) -> IntVector:
        """Returns the `count` (at least 1) nearest of the selected rows, all looked at."""
        storage = faiss.downcast_index(self._index.storage)
        parameters = faiss.SearchParameters(sel=selected.selector)
        _, rows = storage.search(query[np.newaxis, :], count, params=parameters)
        found: IntVector = rows[0][rows[0] >= 0]
        return found

    def _storage(self) -> Any:
        return faiss.downcast_index(self._index.storage)
