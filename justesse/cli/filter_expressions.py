"""Conditions as written on a command line, for example `metadata.year>=2023`."""

import re
from collections.abc import Sequence
from datetime import datetime

from justesse.cli.ingestion.metadata_pairs import value_from
from justesse.client import MetadataValue, filters
from justesse.client.filters import Filter

FORM = (
    "FIELD=VALUE, FIELD=VALUE|VALUE, FIELD!=VALUE, FIELD>=VALUE, FIELD>VALUE, FIELD<=VALUE, "
    "FIELD<VALUE, FIELD alone if the document must have it, or !FIELD if not. Fields: "
    "metadata.NAME, category, language, version, superseded, valid_at. Values are typed by their "
    'look: true, 12, 2024-05-01; "12" in double quotes is text.'
)

_TEXT_FIELDS = ("category", "language", "version")
# The first operator ends the field.
_COMPARISON = re.compile(r"(?P<field>[^=<>!]+)(?P<operator>!=|>=|<=|=|>|<)(?P<value>.*)", re.DOTALL)


def filter_from_expressions(expressions: Sequence[str]) -> Filter | None:
    """Returns the condition that all expressions hold; None without any. ValueError names one."""
    parts = [_filter_from(expression) for expression in expressions]
    if len(parts) <= 1:
        return parts[0] if parts else None
    return filters.all_of(*parts)


def _filter_from(expression: str) -> Filter:
    text = expression.strip()
    compared = _COMPARISON.fullmatch(text)
    if compared is None:
        negated = text.startswith("!")
        field = text.removeprefix("!").strip()
        if not field or re.search(r"[=<>!]", field):
            raise ValueError(f"{expression!r} is no condition; write {FORM}")
        return ~filters.exists(field) if negated else filters.exists(field)
    field = compared["field"].strip()
    if not compared["value"].strip():
        raise ValueError(f"{expression!r} has no value; write {FORM}")
    return _comparison(field, compared["operator"], compared["value"].strip())


def _comparison(field: str, operator: str, text: str) -> Filter:
    if operator in ("=", "!="):
        values = [_value(field, part.strip()) for part in _alternatives(text)]
        same = (
            filters.equals(field, values[0]) if len(values) == 1 else filters.one_of(field, values)
        )
        return ~same if operator == "!=" else same
    value = _value(field, text)
    if operator == ">=":
        return filters.in_range(field, at_least=value)
    if operator == "<":
        return filters.in_range(field, less_than=value)
    if operator == ">":
        return filters.in_range(field, at_least=value) & ~filters.equals(field, value)
    return filters.in_range(field, less_than=value) | filters.equals(field, value)


def _alternatives(text: str) -> list[str]:
    quoted = len(text) >= 2 and text[0] == text[-1] == '"' and text.count('"') == 2
    return [text] if quoted else text.split("|")


def _value(field: str, text: str) -> MetadataValue:
    value = value_from(text)
    if field in _TEXT_FIELDS:
        # Whatever a version looks like, it is text.
        return value if isinstance(value, str) else text
    if field == "valid_at" and not isinstance(value, datetime):
        raise ValueError(f"valid_at is compared with a moment such as 2024-05-01, not {text!r}")
    return value
