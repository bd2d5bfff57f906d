"""What conditions and thresholds must fulfil, whichever door they came through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chassis.errors import FieldViolation
from gateway.filters import (
    AllOf,
    AnyOf,
    Filter,
    InRange,
    Negation,
    OneOf,
    Threshold,
)

MAX_DEPTH = 8
MAX_PARTS = 100
MAX_VALUES = 1000

_FIELDS = "metadata.NAME, category, language, version, valid_at or superseded"


def filter_violations(condition: Filter, field: str, depth: int = 1) -> Iterator[FieldViolation]:
    """Yields what is wrong with a condition; `field` is where it stands in the request."""
    if depth > MAX_DEPTH:
        yield FieldViolation(field, f"{field} is nested deeper than {MAX_DEPTH}")
        return
    match condition:
        case AllOf():
            yield from _group_violations(condition.filters, f"{field}.all_of", depth)
        case AnyOf():
            yield from _group_violations(condition.filters, f"{field}.any_of", depth)
        case Negation():
            yield from filter_violations(condition.filter, f"{field}.negation", depth + 1)
        case OneOf():
            yield from _name_violations(condition.field, f"{field}.one_of")
            yield from _count_violations(condition.values, f"{field}.one_of.values", MAX_VALUES)
        case InRange():
            yield from _name_violations(condition.field, f"{field}.range")
            if condition.at_least is None and condition.less_than is None:
                yield FieldViolation(
                    f"{field}.range", f"{field}.range needs at_least, less_than or both"
                )
        case _:
            yield from _name_violations(condition.field, field)


def threshold_violations(threshold: Threshold, field: str) -> Iterator[FieldViolation]:
    """Yields what is wrong with a threshold; `field` is where it stands in the request."""
    bounds = {
        f"{field}.min_similarity": (threshold.min_similarity, -1, 1),
        f"{field}.max_distance": (threshold.max_distance, 0, 2),
        f"{field}.min_term_share": (threshold.min_term_share, 0, 1),
    }
    cosine_bound_count = sum(
        bound is not None for bound in (threshold.min_similarity, threshold.max_distance)
    )
    if threshold.space_id and cosine_bound_count != 1:
        yield FieldViolation(field, f"{field} needs either min_similarity or max_distance")
    if not threshold.space_id and cosine_bound_count:
        yield FieldViolation(
            f"{field}.space_id",
            f"{field}.space_id is empty; name the space whose cosine is judged",
        )
    elif not threshold.space_id and threshold.min_term_share is None:
        yield FieldViolation(
            field, f"{field} names no score; give a space with a bound, or min_term_share"
        )
    for name, (bound, low, high) in bounds.items():
        if bound is not None and not low <= bound <= high:
            yield FieldViolation(name, f"{name} must be from {low} to {high}, not {bound:g}")
    if threshold.context_differs and not threshold.context_field:
        yield FieldViolation(
            f"{field}.context_field", f"{field}.context_differs needs a context_field to compare"
        )
    if threshold.condition is not None:
        yield from filter_violations(threshold.condition, f"{field}.condition")


def _group_violations(parts: Sequence[Filter], field: str, depth: int) -> Iterator[FieldViolation]:
    yield from _count_violations(parts, f"{field}.filters", MAX_PARTS)
    for index, part in enumerate(parts):
        yield from filter_violations(part, f"{field}.filters[{index}]", depth + 1)


def _count_violations(
    members: Sequence[object], field: str, largest: int
) -> Iterator[FieldViolation]:
    if not 1 <= len(members) <= largest:
        yield FieldViolation(field, f"{field} must hold 1 to {largest}, not {len(members)}")


def _name_violations(name: str, field: str) -> Iterator[FieldViolation]:
    if not name.strip():
        yield FieldViolation(field, f"{field} names no field; write {_FIELDS}")
