"""Conditions on documents, for searches that must find nothing else.

    from justesse.client import filters

    recent = filters.in_range("metadata.year", at_least=2023)
    filter = filters.equals("category", "policies") & recent & ~filters.equals("superseded", True)

A field is "metadata.NAME", "category", "language", "version", "superseded" or "valid_at"; the last
is a moment, which equals every moment the document holds at. A value of another type than the
stored one is unequal to it and outside of every range.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from justesse.client.metadata import MetadataValue, metadata_message
from justesse.gateway.v1 import filters_pb2


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition; `&`, `|` and `~` join and negate conditions."""

    message: filters_pb2.Filter

    def __and__(self, other: "Filter") -> "Filter":
        return all_of(self, other)

    def __or__(self, other: "Filter") -> "Filter":
        return any_of(self, other)

    def __invert__(self) -> "Filter":
        return Filter(filters_pb2.Filter(negation=self.message))


def equals(field: str, value: MetadataValue) -> Filter:
    """The field equals the value. TypeError and ValueError for a value that cannot be sent."""
    comparison = filters_pb2.Comparison(field=field, value=metadata_message(field, value))
    return Filter(filters_pb2.Filter(equals=comparison))


def one_of(field: str, values: Iterable[MetadataValue]) -> Filter:
    """The field equals one of 1 to 1,000 values. Errors as in `equals`."""
    messages = [metadata_message(field, value) for value in values]
    return Filter(filters_pb2.Filter(one_of=filters_pb2.Membership(field=field, values=messages)))


def in_range(
    field: str,
    *,
    at_least: MetadataValue | None = None,
    less_than: MetadataValue | None = None,
) -> Filter:
    """The field lies in [at_least, less_than); None is no bound. Errors as in `equals`."""
    bounds = filters_pb2.Range(field=field)
    if at_least is not None:
        bounds.at_least.CopyFrom(metadata_message(field, at_least))
    if less_than is not None:
        bounds.less_than.CopyFrom(metadata_message(field, less_than))
    return Filter(filters_pb2.Filter(range=bounds))


def exists(field: str) -> Filter:
    """The document has the field."""
    return Filter(filters_pb2.Filter(field_exists=field))


def all_of(*parts: Filter) -> Filter:
    """Every part holds; 1 to 100 parts, nested at most 8 deep."""
    return Filter(filters_pb2.Filter(all_of=_group(parts)))


def any_of(*parts: Filter) -> Filter:
    """At least one part holds; bounds as in `all_of`."""
    return Filter(filters_pb2.Filter(any_of=_group(parts)))


def _group(parts: Iterable[Filter]) -> filters_pb2.FilterGroup:
    return filters_pb2.FilterGroup(filters=[part.message for part in parts])
