"""Vectors and window blocks as bytes of the store: float32, little-endian, norm 1."""

from dataclasses import dataclass

import numpy as np

from retriever_svc.documents import FloatMatrix

LITTLE_ENDIAN = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class StoredVector:
    """Holds one vector as stored, with its window block; awaited windows have no count."""

    space_key: int
    vector: bytes
    window_count: int | None = None
    windows: bytes = b""
    sliced: bool = False


def encoded(vectors: FloatMatrix) -> bytes:
    """Encodes one or more rows for the store."""
    return vectors.astype(LITTLE_ENDIAN, copy=False).tobytes()


def decoded(blob: bytes, dimension: int) -> FloatMatrix:
    """Decodes rows from the store, [rows, dimension]; the array is read-only."""
    rows = np.frombuffer(blob, dtype=LITTLE_ENDIAN).reshape(-1, dimension)
    return rows.astype(np.float32, copy=False)
