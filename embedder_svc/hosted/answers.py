"""Reads the vectors out of a vendor's answer, and takes nothing in it for granted."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chassis.vendor_errors import VendorError, VendorGarbled, VendorUnusable
from embedder_svc.embedding import Vectors, unit_vectors


@dataclass(frozen=True, slots=True)
class Rows:
    """The embeddings of an answer, one for each text in order, as they came.

    An embedding is a list of numbers or a base64 text; `token_count` is what the vendor counted
    for the whole request, None if it did not say.
    """

    embeddings: tuple[Any, ...]
    token_count: int | None


def indexed_rows(vendor: str, value: Any, count: int) -> Rows:
    """Reads an answer of OpenAI's shape: `{"data": [{"index", "embedding"}], "usage": {...}}`.

    Items are placed by `index`, which must be an exact permutation; only if no item has one does
    the order count. Raises VendorUnusable for anything else.
    """
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        raise _unusable(vendor, "answered without a list of embeddings")
    if len(data) != count:
        raise _unusable(vendor, f"answered with {len(data)} embeddings for {count} texts")
    if not all(isinstance(item, dict) for item in data):
        raise _unusable(vendor, "answered with something else than embeddings")
    indices = [item.get("index") for item in data]
    if any(index is not None for index in indices):
        if any(type(index) is not int for index in indices) or sorted(indices) != [*range(count)]:
            raise _unusable(vendor, "answered with indices that do not name each text once")
        data = sorted(data, key=lambda item: int(item["index"]))
    usage = value.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    token_count = _token_count(counts.get("total_tokens"), counts.get("prompt_tokens"))
    return Rows(tuple(item.get("embedding") for item in data), token_count)


def listed_rows(vendor: str, value: Any, count: int) -> Rows:
    """Reads an answer of Ollama's shape: `{"embeddings": [[...]], "prompt_eval_count"}`."""
    embeddings = value.get("embeddings") if isinstance(value, dict) else None
    if not isinstance(embeddings, list):
        raise _unusable(vendor, "answered without a list of embeddings")
    if len(embeddings) != count:
        raise _unusable(vendor, f"answered with {len(embeddings)} embeddings for {count} texts")
    return Rows(tuple(embeddings), _token_count(value.get("prompt_eval_count")))


def unit_rows(vendor: str, rows: Rows, dimension: int) -> Vectors:
    """Returns the embeddings with norm 1, as n x dimension float32, C order.

    Raises VendorUnusable if one is not a vector of that width, VendorGarbled if one holds no
    direction (null, not finite, or zero), for which its text may be to blame.
    """
    block = np.empty((len(rows.embeddings), dimension))
    for row, embedding in zip(block, rows.embeddings, strict=True):
        numbers = _numbers(vendor, embedding)
        if numbers.shape != (dimension,):
            width = numbers.shape[0] if numbers.ndim == 1 else numbers.shape
            raise _unusable(vendor, f"answered with a vector {width} wide instead of {dimension}")
        row[:] = numbers
    if not np.isfinite(block).all() or not block.any(axis=1).all():
        raise _no_direction(vendor)
    return unit_vectors(block, *block.shape)


def _numbers(vendor: str, embedding: Any) -> NDArray[Any]:
    if isinstance(embedding, str):
        return _decoded(vendor, embedding)
    if embedding is None:
        raise _no_direction(vendor)
    if not isinstance(embedding, list) or not embedding:
        raise _unusable(vendor, "answered with an empty embedding")
    kinds = {type(number) for number in embedding}
    if type(None) in kinds and kinds <= {int, float, type(None)}:
        raise _no_direction(vendor)
    if not kinds <= {int, float}:
        raise _unusable(vendor, "answered with vectors of something else than numbers")
    # Quantised vectors are whole numbers; a plain one may hold the whole numbers -1, 0 and 1.
    if float not in kinds and any(abs(number) > 1 for number in embedding):
        raise _unusable(vendor, "answered with whole numbers instead of floats")
    return np.array(embedding, dtype=np.float64)


def _decoded(vendor: str, text: str) -> NDArray[Any]:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _unusable(vendor, "answered with vectors that are not base64") from error
    if not raw or len(raw) % 4:
        raise _unusable(vendor, "answered with base64 that is not float32")
    return np.frombuffer(raw, dtype="<f4").astype(np.float64)


def _token_count(*counts: Any) -> int | None:
    return next((count for count in counts if type(count) is int and count > 0), None)


def _unusable(vendor: str, what: str) -> VendorError:
    return VendorUnusable(vendor, what)


def _no_direction(vendor: str) -> VendorError:
    return VendorGarbled(vendor, "answered with a vector that has no direction")
