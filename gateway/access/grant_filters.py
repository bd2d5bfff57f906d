"""What the filter of a grant must fulfil beside those of searches.

Whoever makes the key sees the error; whoever holds it should never meet one. And a negation of what
no document can have would be fulfilled by all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from chassis.errors import FieldViolation
from gateway.documents import MetadataValue
from gateway.filter_validation import filter_violations
from gateway.filters import AllOf, AnyOf, Equals, FieldExists, Filter, InRange, Negation, OneOf

_METADATA = "metadata."
_TYPES: dict[str, type] = {
    "category": str,
    "language": str,
    "version": str,
    "superseded": bool,
    "valid_at": datetime,
}
_FIELDS = f"{_METADATA}NAME, {', '.join(_TYPES)}"
# Beside what a search asks for itself, it stands one level deeper.
_OUTER_DEPTH = 2


def grant_filter_violations(condition: Filter, field: str) -> Iterator[FieldViolation]:
    """Yields what is wrong with the filter of a grant; `field` is where it stands."""
    yield from filter_violations(condition, field, _OUTER_DEPTH)
    for leaf in _leaves(condition):
        yield from _leaf_violations(leaf, field)


def _leaves(condition: Filter) -> Iterator[Equals | OneOf | InRange | FieldExists]:
    match condition:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _leaves(part)
        case Negation(part):
            yield from _leaves(part)
        case _:
            yield condition


def _leaf_violations(
    leaf: Equals | OneOf | InRange | FieldExists, field: str
) -> Iterator[FieldViolation]:
    name = leaf.field
    if name not in _TYPES and (not name.startswith(_METADATA) or name == _METADATA):
        yield FieldViolation(field, f"{field} names {name[:80]!r}; expected {_FIELDS}")
        return
    values = _values_of(leaf)
    wanted = _TYPES.get(name)
    if wanted is not None and any(not isinstance(value, wanted) for value in values):
        yield FieldViolation(field, f"{field}: values of {name} must be of type {wanted.__name__}")
    if isinstance(leaf, InRange):
        if any(isinstance(value, bool) for value in values):
            yield FieldViolation(field, f"{field}: truth values of {name[:80]} have no order")
        if len({isinstance(v, str) + 2 * isinstance(v, datetime) for v in values}) > 1:
            yield FieldViolation(field, f"{field}: the bounds of {name[:80]} differ in type")


def _values_of(leaf: Equals | OneOf | InRange | FieldExists) -> tuple[MetadataValue, ...]:
    match leaf:
        case Equals(_, value):
            return (value,)
        case OneOf(_, values):
            return values
        case InRange(_, at_least, less_than):
            return tuple(bound for bound in (at_least, less_than) if bound is not None)
        case FieldExists():
            return ()
