"""Conditions on documents as SQL over their rows.

Every clause is true or false, never NULL, so that its negation is its complement.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal, not_, or_, true
from sqlalchemy.dialects.postgresql import JSONB

from retriever_svc.documents import MetadataValue
from retriever_svc.filters import (
    METADATA_PREFIX,
    TEXT_FIELDS,
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
)
from retriever_svc.milvus.store.layout import DOCUMENTS
from retriever_svc.store.json_columns import encoded_value
from retriever_svc.store.moments import microseconds_from

_BEFORE_ALL_MOMENTS = -(2**62)
_AFTER_ALL_MOMENTS = 2**62
_Clause = ColumnElement[bool]


def clause_of(condition: Filter) -> _Clause:
    """Returns a clause over rows of documents."""
    match condition:
        case AllOf(parts):
            return and_(true(), *map(clause_of, parts))
        case AnyOf(parts):
            return or_(not_(true()), *map(clause_of, parts))
        case Negation(part):
            return not_(clause_of(part))
        case FieldExists(field):
            return _exists(field)
        case Equals(field, value):
            return _equals(field, [value])
        case OneOf(field, values):
            return _equals(field, values)
        case InRange("valid_at", at_least, less_than):
            return _valid_within(_moment(at_least), _moment(less_than))
        case InRange(field, at_least, less_than) if field in TEXT_FIELDS:
            return _text_within(DOCUMENTS.c[field], at_least, less_than)
        case InRange(field, at_least, less_than):
            return _metadata_within(field, at_least, less_than)


def _exists(field: str) -> _Clause:
    if field == "superseded":
        return true()
    if field == "valid_at":
        return or_(DOCUMENTS.c.valid_from.is_not(None), DOCUMENTS.c.valid_until.is_not(None))
    if field in TEXT_FIELDS:
        return DOCUMENTS.c[field] != ""
    held: _Clause = DOCUMENTS.c.metadata.has_key(_name(field))
    return held


def _equals(field: str, values: Sequence[MetadataValue]) -> _Clause:
    if field == "valid_at":
        moments = [moment for value in values if (moment := _moment(value)) is not None]
        # No moment lies between two whole microseconds.
        return or_(not_(true()), *(_valid_within(at, at + 1) for at in moments))
    if field == "superseded":
        return DOCUMENTS.c.superseded.in_([value is True for value in values])
    if field in TEXT_FIELDS:
        # An empty one is not there.
        return DOCUMENTS.c[field].in_([str(value) for value in values if value != ""])
    stored = DOCUMENTS.c.metadata[_name(field)]
    pairs = [stored == literal(list(encoded_value(value)), JSONB) for value in values]
    return func.coalesce(or_(not_(true()), *pairs), not_(true()))


def _text_within(
    column: ColumnElement[Any], at_least: MetadataValue | None, less_than: MetadataValue | None
) -> _Clause:
    bounds = [column != ""]
    if at_least is not None:
        bounds.append(column >= str(at_least))
    if less_than is not None:
        bounds.append(column < str(less_than))
    return and_(*bounds)


def _metadata_within(
    field: str, at_least: MetadataValue | None, less_than: MetadataValue | None
) -> _Clause:
    stored = DOCUMENTS.c.metadata[_name(field)]
    bounds: list[_Clause] = []
    for bound, over in ((at_least, True), (less_than, False)):
        if bound is None:
            continue
        kind, value = encoded_value(bound)
        bounds.append(stored[0].astext == kind)
        held, wanted = (
            (stored[1].astext.collate("C"), literal(value))
            if kind == "string"
            else (stored[1], literal(value, JSONB))
        )
        bounds.append(held >= wanted if over else held < wanted)
    return func.coalesce(and_(*bounds), not_(true()))


def _valid_within(first: int | None, end: int | None) -> _Clause:
    begins = func.coalesce(DOCUMENTS.c.valid_from, _BEFORE_ALL_MOMENTS)
    ends = func.coalesce(DOCUMENTS.c.valid_until, _AFTER_ALL_MOMENTS)
    later = func.greatest(_BEFORE_ALL_MOMENTS if first is None else first, begins)
    earlier = func.least(_AFTER_ALL_MOMENTS if end is None else end, ends)
    return later < earlier


def _name(field: str) -> str:
    return field.removeprefix(METADATA_PREFIX)


def _moment(value: MetadataValue | None) -> int | None:
    return microseconds_from(value) if isinstance(value, datetime) else None
