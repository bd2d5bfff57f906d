"""What a collection holds of a document so that conditions can be asked of it.

`facets` are numbers, 0 to 2**63 - 1, each standing for a fact: the document has a field, has one of
a type, has one with a value. They are hashes (BLAKE2b); two facts of a million share a number with
a probability of 1 in 18 million. `bounds` holds values for ranges, as texts in hexadecimal digits
that are ordered as the values are, by the kind and the name of the field. `valid_from` and
`valid_until` are moments; what has none is valid from 0 to 2**63 - 1.
"""

import struct
from datetime import datetime
from hashlib import blake2b
from typing import Any

import orjson

from retriever_svc.documents import Document, MetadataValue
from retriever_svc.filters import METADATA_PREFIX, TEXT_FIELDS, ValueType, stored_value, type_of
from retriever_svc.store.moments import microseconds_from

MOST_METADATA_FIELDS = 1_300
"""Each takes three facets, and Milvus's arrays have 4,096 places."""

FIRST_MOMENT = 0
LAST_MOMENT = 2**63 - 1
_MOMENT_SHIFT = 2**62
_SIGN_BIT = 2**63


def entry_of(passage_id: int, document: Document, extra_facets: list[int]) -> dict[str, Any]:
    """Returns the fields of an entry that conditions ask for, and its id."""
    valid_from, valid_until = _validity(document)
    facets, bounds = list(extra_facets), {}
    for name in _field_names(document):
        value = stored_value(document, name)
        if value is not None:
            facets += [has_field(name), has_type(name, value), has_value(name, value)]
            bounds[bound_key(name, value)] = ordered_text(value)
    if document.valid_from is not None or document.valid_until is not None:
        facets.append(has_field("valid_at"))
    return {
        "id": passage_id,
        "facets": facets,
        "bounds": bounds,
        "valid_from": valid_from,
        "valid_until": valid_until,
    }


def has_field(name: str) -> int:
    """Returns the facet of documents that have a field."""
    return _facet("field", name)


def has_type(name: str, value: MetadataValue) -> int:
    """Returns the facet of documents that have a field of the value's type."""
    return _facet("type", name, type_of(value))


def has_value(name: str, value: MetadataValue) -> int:
    """Returns the facet of documents whose field equals a value of its type."""
    return _facet("value", name, type_of(value), ordered_text(value))


def in_space(space_key: int) -> int:
    """Returns the facet of passages that have a vector in a space."""
    return _facet("space", str(space_key))


def bound_key(name: str, value: MetadataValue) -> str:
    """Returns under which key the values of the field and type stand in `bounds`."""
    return f"{type_of(value).name.lower()}_{name.encode().hex()}"


def ordered_text(value: MetadataValue) -> str:
    """Returns hexadecimal digits that are ordered as values of the type are."""
    match type_of(value):
        case ValueType.TEXT:
            # UTF-8 is ordered by code point.
            return str(value).encode().hex()
        case ValueType.TRUTH:
            return "01" if value else "00"
        case ValueType.MOMENT:
            assert isinstance(value, datetime)
            return f"{moment_number(value):016x}"
        case ValueType.NUMBER:
            assert isinstance(value, int | float)
            return _ordered_number(float(value))


def moment_number(moment: datetime) -> int:
    """Returns a moment as it stands in `valid_from` and `valid_until`."""
    return microseconds_from(moment) + _MOMENT_SHIFT


def _ordered_number(value: float) -> str:
    # Zero has two encodings. Those of positive numbers grow with them, those of others shrink.
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return f"{bits ^ (2 * _SIGN_BIT - 1) if bits & _SIGN_BIT else bits | _SIGN_BIT:016x}"


def _validity(document: Document) -> tuple[int, int]:
    first = FIRST_MOMENT if document.valid_from is None else moment_number(document.valid_from)
    end = LAST_MOMENT if document.valid_until is None else moment_number(document.valid_until)
    # One that ends before it begins is valid at no moment.
    return (first, end) if first < end else (LAST_MOMENT, FIRST_MOMENT)


def _field_names(document: Document) -> list[str]:
    return [
        *TEXT_FIELDS,
        "superseded",
        *(f"{METADATA_PREFIX}{name}" for name in document.metadata),
    ]


def _facet(*fact: str) -> int:
    digest = blake2b(orjson.dumps(fact), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
