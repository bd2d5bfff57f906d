"""Conditions on documents.

A condition names a field: "metadata.NAME" (text, number, truth value or moment), "category",
"language" or "version" (texts, compared as they are stored; an empty one is not there),
"superseded" (a truth value) or "valid_at" (a moment: equal to every moment the document holds at,
in a range if it holds at some moment of the range). A value of another type than the stored one is
unequal to it and outside of every range; a field that is not there fulfils nothing but negations.
Texts are equal character by character, case included, and ordered by code point; documents and
conditions both arrive in the composed form of Unicode. Moments are instants: 14:00+02:00 equals
12:00Z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from retriever_svc.documents import Document, MetadataValue

METADATA_PREFIX = "metadata."
_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


class ValueType(StrEnum):
    """Names the types a field can have."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth value"
    MOMENT = "moment"


TEXT_FIELDS = ("category", "language", "version")
TYPE_BY_FIELD: Mapping[str, ValueType] = {
    **dict.fromkeys(TEXT_FIELDS, ValueType.TEXT),
    "superseded": ValueType.TRUTH,
    "valid_at": ValueType.MOMENT,
}
"""Type of each field that is no metadata."""


@dataclass(frozen=True, slots=True)
class Equals:
    """The field equals the value."""

    field: str
    value: MetadataValue


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of the values."""

    field: str
    values: tuple[MetadataValue, ...]


@dataclass(frozen=True, slots=True)
class InRange:
    """The field lies in [at_least, less_than); one bound at least is not None."""

    field: str
    at_least: MetadataValue | None = None
    less_than: MetadataValue | None = None


@dataclass(frozen=True, slots=True)
class FieldExists:
    """The document has the field; "valid_at" if it has a first or a last moment."""

    field: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """The part does not hold."""

    part: Filter


Filter = Equals | OneOf | InRange | FieldExists | AllOf | AnyOf | Negation


def type_of(value: MetadataValue) -> ValueType:
    """Returns the type of a value; a truth value is no number."""
    match value:
        case bool():
            return ValueType.TRUTH
        case str():
            return ValueType.TEXT
        case datetime():
            return ValueType.MOMENT
        case _:
            return ValueType.NUMBER


def fulfils(document: Document, condition: Filter) -> bool:
    """Whether the document fulfils the condition."""
    match condition:
        case AllOf(parts):
            return all(fulfils(document, part) for part in parts)
        case AnyOf(parts):
            return any(fulfils(document, part) for part in parts)
        case Negation(part):
            return not fulfils(document, part)
        case FieldExists("valid_at"):
            return document.valid_from is not None or document.valid_until is not None
        case FieldExists(field):
            return stored_value(document, field) is not None
        case Equals(field, value):
            return _equals(document, field, value)
        case OneOf(field, values):
            return any(_equals(document, field, value) for value in values)
        case InRange("valid_at", at_least, less_than):
            return _holds_within(document, at_least, less_than)
        case InRange(field, at_least, less_than):
            return _lies_within(stored_value(document, field), at_least, less_than)


def stored_value(document: Document, field: str) -> MetadataValue | None:
    """Returns what the document has in a field other than "valid_at"; None for nothing."""
    if field.startswith(METADATA_PREFIX):
        return document.metadata.get(field.removeprefix(METADATA_PREFIX))
    if field == "superseded":
        return document.superseded
    texts = {
        "category": document.category,
        "language": document.language,
        "version": document.version,
    }
    return texts[field] or None


def _equals(document: Document, field: str, value: MetadataValue) -> bool:
    if field == "valid_at":
        return _holds_at(document, value)
    stored = stored_value(document, field)
    return stored is not None and type_of(stored) is type_of(value) and stored == value


def _lies_within(
    stored: MetadataValue | None, at_least: MetadataValue | None, less_than: MetadataValue | None
) -> bool:
    if stored is None:
        return False
    for bound in (at_least, less_than):
        if bound is not None and type_of(bound) is not type_of(stored):
            return False
    # The types agree, which the type checker cannot see.
    above = at_least is None or stored >= at_least  # type: ignore[operator]
    return above and (less_than is None or stored < less_than)  # type: ignore[operator]


def _holds_at(document: Document, moment: MetadataValue) -> bool:
    if not isinstance(moment, datetime):
        return False
    begun = document.valid_from is None or document.valid_from <= moment
    return begun and (document.valid_until is None or moment < document.valid_until)


def _holds_within(
    document: Document, at_least: MetadataValue | None, less_than: MetadataValue | None
) -> bool:
    first = at_least if isinstance(at_least, datetime) else _FIRST_MOMENT
    end = less_than if isinstance(less_than, datetime) else _LAST_MOMENT
    first = max(first, document.valid_from or _FIRST_MOMENT)
    return first < min(end, document.valid_until or _LAST_MOMENT)
