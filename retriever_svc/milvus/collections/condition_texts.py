"""Conditions on documents as expressions of Milvus over the fields of `condition_fields`.

Negations are pushed down to the single comparisons, and what asks for a value asks first whether
it is there, so that no expression depends on how Milvus negates what is missing. All literals are
whole numbers and hexadecimal digits: nothing a user wrote is ever read as an expression.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from retriever_svc.documents import MetadataValue
from retriever_svc.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
    type_of,
)
from retriever_svc.milvus.collections.condition_fields import (
    FIRST_MOMENT,
    LAST_MOMENT,
    bound_key,
    has_field,
    has_type,
    has_value,
    moment_number,
    ordered_text,
)

_EVERYTHING = "id >= 0"
_NOTHING = "id < 0"


def condition_text(condition: Filter, *, negated: bool = False) -> str:
    """Returns the expression that holds where the condition does; where it does not, if negated."""
    match condition:
        case AllOf(parts):
            texts = [condition_text(part, negated=negated) for part in parts]
            return _any(texts) if negated else all_of(texts)
        case AnyOf(parts):
            texts = [condition_text(part, negated=negated) for part in parts]
            return all_of(texts) if negated else _any(texts)
        case Negation(part):
            return condition_text(part, negated=not negated)
        case FieldExists(field):
            return _holds([has_field(field)], negated=negated)
        case Equals(field, value):
            return _equals(field, [value], negated=negated)
        case OneOf(field, values):
            return _equals(field, values, negated=negated)
        case InRange(field, at_least, less_than):
            return _within(field, at_least, less_than, negated=negated)


def all_of(texts: Iterable[str]) -> str:
    """Joins expressions that must all hold; an empty one is left out."""
    return _joined([text for text in texts if text], " and ") or _EVERYTHING


def none_of_facets(facets: Sequence[int]) -> str:
    """Returns the expression that holds for entries with none of the facets."""
    return _holds(facets, negated=True)


def one_of_ids(ids: Iterable[int]) -> str:
    """Returns the expression that holds for these entries."""
    return f"id in [{', '.join(map(str, ids))}]"


def _any(texts: Sequence[str]) -> str:
    return _joined(texts, " or ") or _NOTHING


def _joined(texts: Sequence[str], operator: str) -> str:
    return operator.join(f"({text})" for text in texts) if len(texts) > 1 else "".join(texts)


def _holds(facets: Sequence[int], *, negated: bool) -> str:
    if not facets:
        return _EVERYTHING if negated else _NOTHING
    text = f"array_contains_any(facets, [{', '.join(map(str, facets))}])"
    return f"not {text}" if negated else text


def _within(
    field: str,
    at_least: MetadataValue | None,
    less_than: MetadataValue | None,
    *,
    negated: bool,
) -> str:
    if field == "valid_at":
        return _valid_within(_moment(at_least), _moment(less_than), negated=negated)
    bounds = [bound for bound in (at_least, less_than) if bound is not None]
    if len({type_of(bound) for bound in bounds}) != 1:
        # No value has two types.
        return _EVERYTHING if negated else _NOTHING
    stored = f'bounds["{bound_key(field, bounds[0])}"]'
    under = [] if at_least is None else [(stored, at_least, "<" if negated else ">=")]
    over = [] if less_than is None else [(stored, less_than, ">=" if negated else "<")]
    texts = [
        f'{place} {operator} "{ordered_text(bound)}"' for place, bound, operator in (*under, *over)
    ]
    there = _holds([has_type(field, bounds[0])], negated=negated)
    return _any([there, *texts]) if negated else all_of([there, *texts])


def _equals(field: str, values: Sequence[MetadataValue], *, negated: bool) -> str:
    if field != "valid_at":
        return _holds([has_value(field, value) for value in values], negated=negated)
    # No moment lies between two whole microseconds.
    texts = [
        _valid_within(at, at + 1, negated=negated)
        for value in values
        if (at := _moment(value)) is not None
    ]
    return all_of(texts) if negated else _any(texts)


def _valid_within(first: int | None, end: int | None, *, negated: bool) -> str:
    first = FIRST_MOMENT if first is None else first
    end = LAST_MOMENT if end is None else end
    if first >= end:
        return _EVERYTHING if negated else _NOTHING
    if negated:
        return _any([f"valid_from >= {end}", f"valid_until <= {first}"])
    return all_of([f"valid_from < {end}", f"valid_until > {first}"])


def _moment(value: MetadataValue | None) -> int | None:
    return moment_number(value) if isinstance(value, datetime) else None
