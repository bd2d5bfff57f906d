"""Whether a document fulfils a condition, as the retriever decides it for searches and lists.

A value of another type than the stored one is unequal to it and outside of every range; a field
that is not there fulfils nothing but negations. Texts are compared in the composed form of Unicode
(NFC), in which the retriever keeps them. A test compares the two on documents and
conditions of every kind.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

from gateway.documents import Document, MetadataValue
from gateway.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
)

_METADATA = "metadata."
_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


def fulfils(document: Document, condition: Filter) -> bool:
    """Whether the document fulfils the condition; a field that no document has is not there."""
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
            return _stored(document, field) is not None
        case Equals(field, value):
            return _equals(document, field, value)
        case OneOf(field, values):
            return any(_equals(document, field, value) for value in values)
        case InRange("valid_at", at_least, less_than):
            return _holds_within(document, at_least, less_than)
        case InRange(field, at_least, less_than):
            return _lies_within(_stored(document, field), at_least, less_than)


def _stored(document: Document, field: str) -> MetadataValue | None:
    if field.startswith(_METADATA):
        wanted = _composed(field.removeprefix(_METADATA))
        named = (v for name, v in document.metadata.items() if _composed(name) == wanted)
        value = next(named, None)
        return _composed(value) if isinstance(value, str) else value
    if field == "superseded":
        return document.superseded
    texts = {
        "category": document.category,
        "language": document.language,
        "version": document.version,
    }
    return _composed(texts.get(field, "")) or None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _equals(document: Document, field: str, value: MetadataValue) -> bool:
    if field == "valid_at":
        return isinstance(value, datetime) and _holds_at(document, value)
    stored = _stored(document, field)
    if isinstance(value, str):
        value = _composed(value)
    return stored is not None and _kind(stored) is _kind(value) and stored == value


def _lies_within(
    stored: MetadataValue | None, at_least: MetadataValue | None, less_than: MetadataValue | None
) -> bool:
    at_least, less_than = (
        _composed(bound) if isinstance(bound, str) else bound for bound in (at_least, less_than)
    )
    bounds = [bound for bound in (at_least, less_than) if bound is not None]
    if stored is None or any(_kind(bound) is not _kind(stored) for bound in bounds):
        return False
    # The kinds are the same, which the type checker cannot see.
    above = at_least is None or stored >= at_least  # type: ignore[operator]
    return above and (less_than is None or stored < less_than)  # type: ignore[operator]


def _holds_at(document: Document, moment: datetime) -> bool:
    begun = document.valid_from is None or document.valid_from <= moment
    return begun and (document.valid_until is None or moment < document.valid_until)


def _holds_within(
    document: Document, at_least: MetadataValue | None, less_than: MetadataValue | None
) -> bool:
    first = at_least if isinstance(at_least, datetime) else _FIRST_MOMENT
    end = less_than if isinstance(less_than, datetime) else _LAST_MOMENT
    first = max(first, document.valid_from or _FIRST_MOMENT)
    return first < min(end, document.valid_until or _LAST_MOMENT)


def _kind(value: MetadataValue) -> type:
    """Truth values are no numbers; numbers are of one kind, whole or not."""
    match value:
        case bool() | str() | datetime():
            return type(value)
        case _:
            return float
