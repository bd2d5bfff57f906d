"""What rerank endpoints answer, read without trust."""

import sys
from typing import Any

from chassis.vendor_errors import VendorUnusable
from reranker_svc.endpoints.dialects import Dialect


def document_scores(vendor: str, dialect: Dialect, value: Any, count: int) -> tuple[float, ...]:
    """Reads an answer for `count` documents: a finite score each, in the order of the request.

    Results may come in any order; their indices must name each document once. Raises
    VendorUnusable for anything else, such as fewer results, a score that is not finite, or an
    error under a good status.
    """
    results = value if dialect.list_key is None else _field(value, dialect.list_key)
    if not isinstance(results, list):
        raise VendorUnusable(vendor, "answered without a list of results")
    if len(results) != count:
        raise VendorUnusable(vendor, f"answered with {len(results)} results for {count} documents")
    scores: dict[int, float] = {}
    for result in results:
        index, score = _field(result, "index"), _field(result, dialect.score_key)
        if type(index) is not int or not 0 <= index < count or index in scores:
            raise VendorUnusable(
                vendor, "answered with indices that do not name each document once"
            )
        if type(score) not in (int, float) or not abs(score) <= sys.float_info.max:
            raise VendorUnusable(vendor, "answered with a score that is no finite number")
        scores[index] = float(score)
    return tuple(scores[index] for index in range(count))


def token_count(value: Any) -> int:
    """Returns what the endpoint says it has read, 0 where it does not say."""
    usage = _field(value, "usage")
    billed = _field(_field(value, "meta"), "tokens")
    counts = (
        _field(usage, "total_tokens"),
        _field(usage, "prompt_tokens"),
        _field(billed, "input_tokens"),
    )
    return next((count for count in counts if type(count) is int and count > 0), 0)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
