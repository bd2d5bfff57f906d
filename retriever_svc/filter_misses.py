"""Why a document does not fulfil a condition, in words."""

from __future__ import annotations

from datetime import datetime

from retriever_svc.documents import Document, MetadataValue
from retriever_svc.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
    fulfils,
    stored_value,
)

_LONGEST_VALUE = 80
_MOST_VALUES = 5
_MOST_PARTS = 3


def miss_in_words(document: Document, condition: Filter) -> str:
    """Returns what the first part that the document misses wants, and what the document has.

    To be read after "the filter", for example "wants category 'orders', and the document has
    'policies'". The document must not fulfil the condition.
    """
    match condition:
        case AllOf(parts):
            return miss_in_words(document, next(p for p in parts if not fulfils(document, p)))
        case AnyOf(parts):
            misses = [miss_in_words(document, part) for part in parts[:_MOST_PARTS]]
            more = len(parts) - len(misses)
            return "; or ".join(misses) + (f"; or wants one of {more} more parts" if more else "")
        case Negation(Equals() | OneOf() | InRange() | FieldExists() as part):
            return f"excludes {_wanted(part)}, and the document has {_had(document, part.field)}"
        case Negation(part):
            return f"excludes {_wanted(part)}, as the document does"
        case Equals() | OneOf() | InRange() | FieldExists():
            had = _had(document, condition.field)
            return f"wants {_wanted(condition)}, and the document has {had}"


def _wanted(condition: Filter) -> str:
    match condition:
        case Equals(field, value):
            return f"{field} {_shown(value)}"
        case OneOf(field, values):
            shown = ", ".join(map(_shown, values[:_MOST_VALUES]))
            more = len(values) - _MOST_VALUES
            return f"{field} one of {shown}" + (f" and {more} more" if more > 0 else "")
        case InRange(field, at_least, less_than):
            bounds = []
            if at_least is not None:
                bounds.append(f"at least {_shown(at_least)}")
            if less_than is not None:
                bounds.append(f"less than {_shown(less_than)}")
            return f"{field} {' and '.join(bounds)}"
        case FieldExists(field):
            return f"any {field}"
        case Negation(part):
            return f"all but {_wanted(part)}"
        case AllOf(parts):
            return f"what fulfils all {len(parts)} parts of a group"
        case AnyOf(parts):
            return f"what fulfils one of {len(parts)} parts of a group"


def _had(document: Document, field: str) -> str:
    if field == "valid_at":
        return _validity(document)
    value = stored_value(document, field)
    return "none" if value is None else _shown(value)


def _validity(document: Document) -> str:
    bounds = []
    if document.valid_from is not None:
        bounds.append(f"from {_shown(document.valid_from)}")
    if document.valid_until is not None:
        bounds.append(f"until {_shown(document.valid_until)}")
    return f"validity {' '.join(bounds)}" if bounds else "no end of validity"


def _shown(value: MetadataValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case str():
            return repr(value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…")
        case _:
            return f"{value:g}"
