"""Conditions on documents as SQL over their rows.

Every clause is 0 or 1, never NULL, so that its negation is its complement. Metadata are compared
as the store encodes them, so that numbers are equal bit by bit.
"""

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection

import numpy as np
import orjson

from retriever_svc.documents import IntVector, MetadataValue
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
from retriever_svc.store.json_columns import json_from_value, kind_of
from retriever_svc.store.moments import microseconds_from

_BEFORE_ALL_MOMENTS = -(2**62)
_AFTER_ALL_MOMENTS = 2**62
_LISTED = "(SELECT value FROM json_each(?))"


def passages_that_fulfil(connection: Connection, workspace_id: int, condition: Filter) -> IntVector:
    """Returns the ids of all passages whose document fulfils the condition, growing."""
    text, values = clause_of(condition)
    rows = connection.execute(
        "SELECT passages.id FROM documents JOIN passages ON passages.document_id = documents.id "
        f"WHERE documents.workspace_id = ? AND {text}",
        (workspace_id, *values),
    ).fetchall()
    ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    ids.sort()
    return ids


def clause_of(condition: Filter) -> tuple[str, list[str | int | float]]:
    """Returns a clause over rows of documents, and the values of its question marks in order."""
    clauses = _Clauses()
    return clauses.text_of(condition), clauses.values


class _Clauses:
    """Writes clauses; `values` are those of their question marks, in order."""

    def __init__(self) -> None:
        self.values: list[str | int | float] = []

    def text_of(self, condition: Filter) -> str:
        match condition:
            case AllOf(parts):
                return self._joined(parts, " AND ")
            case AnyOf(parts):
                return self._joined(parts, " OR ")
            case Negation(part):
                return f"(NOT {self.text_of(part)})"
            case FieldExists(field):
                return self._exists(field)
            case Equals(field, value):
                return self._equals(field, [value])
            case OneOf(field, values):
                return self._equals(field, values)
            case InRange("valid_at", at_least, less_than):
                return self._valid_within(_moment(at_least), _moment(less_than))
            case InRange(field, at_least, less_than) if field in TEXT_FIELDS:
                return self._text_within(field, at_least, less_than)
            case InRange(field, at_least, less_than):
                return self._metadata_within(field, at_least, less_than)

    def _joined(self, parts: Sequence[Filter], operator: str) -> str:
        return f"({operator.join(self.text_of(part) for part in parts)})"

    def _exists(self, field: str) -> str:
        if field == "superseded":
            return "1"
        if field == "valid_at":
            return "(valid_from IS NOT NULL OR valid_until IS NOT NULL)"
        if field in TEXT_FIELDS:
            return f"(documents.{field} <> '')"
        return _metadata_clause(self._name(field), "1")

    def _equals(self, field: str, values: Sequence[MetadataValue]) -> str:
        if field == "valid_at":
            moments = [moment for value in values if (moment := _moment(value)) is not None]
            # No moment lies between two whole microseconds.
            return f"({' OR '.join(self._valid_within(at, at + 1) for at in moments)})"
        if field == "superseded":
            return f"(superseded IN {self._list([int(value is True) for value in values])})"
        if field in TEXT_FIELDS:
            # An empty one is not there.
            texts = [str(value) for value in values if value != ""]
            return f"(documents.{field} IN {self._list(texts)})"
        name = self._name(field)
        encoded = [json_from_value(same) for value in values for same in _equal_values(value)]
        return _metadata_clause(name, f"value IN {self._list(encoded)}")

    def _text_within(
        self, field: str, at_least: MetadataValue | None, less_than: MetadataValue | None
    ) -> str:
        bounds = [f"documents.{field} <> ''"]
        if at_least is not None:
            bounds.append(f"documents.{field} >= {self._one(str(at_least))}")
        if less_than is not None:
            bounds.append(f"documents.{field} < {self._one(str(less_than))}")
        return f"({' AND '.join(bounds)})"

    def _metadata_within(
        self, field: str, at_least: MetadataValue | None, less_than: MetadataValue | None
    ) -> str:
        name = self._name(field)
        some_bound = less_than if at_least is None else at_least
        assert some_bound is not None
        bounds = [f"json_extract(value, '$[0]') = {self._one(kind_of(some_bound))}"]
        # SQLite reads decimals with a small error, which must not decide about equal numbers.
        if at_least is not None:
            above = f"json_extract(value, '$[1]') >= {self._one(_column_value(at_least))}"
            same = self._list([json_from_value(same) for same in _equal_values(at_least)])
            bounds.append(f"({above} OR value IN {same})")
        if less_than is not None:
            below = f"json_extract(value, '$[1]') < {self._one(_column_value(less_than))}"
            same = self._list([json_from_value(same) for same in _equal_values(less_than)])
            bounds.append(f"{below} AND value NOT IN {same}")
        return _metadata_clause(name, " AND ".join(bounds))

    def _valid_within(self, first: int | None, end: int | None) -> str:
        first_mark = self._one(_BEFORE_ALL_MOMENTS if first is None else first)
        end_mark = self._one(_AFTER_ALL_MOMENTS if end is None else end)
        return (
            f"(max({first_mark}, ifnull(valid_from, {_BEFORE_ALL_MOMENTS})) "
            f"< min({end_mark}, ifnull(valid_until, {_AFTER_ALL_MOMENTS})))"
        )

    def _name(self, field: str) -> str:
        return self._one(field.removeprefix(METADATA_PREFIX))

    def _one(self, value: str | int | float) -> str:
        self.values.append(value)
        return "?"

    def _list(self, values: Sequence[str | int]) -> str:
        self.values.append(orjson.dumps(values).decode())
        return _LISTED


def _metadata_clause(name: str, condition: str) -> str:
    return (
        "EXISTS (SELECT 1 FROM json_each(documents.metadata) "
        f"WHERE json_each.key = {name} AND {condition})"
    )


def _equal_values(value: MetadataValue) -> tuple[MetadataValue, ...]:
    # Zero has two encodings.
    if isinstance(value, int | float) and not isinstance(value, bool) and value == 0:
        return 0.0, -0.0
    return (value,)


def _column_value(value: MetadataValue) -> str | int | float:
    return microseconds_from(value) if isinstance(value, datetime) else value


def _moment(value: MetadataValue | None) -> int | None:
    return microseconds_from(value) if isinstance(value, datetime) else None
