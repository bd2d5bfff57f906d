"""Conditions on the wire: what is read, and what is refused by name."""

from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import documents_pb2, search_pb2
from retriever_svc.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
)
from retriever_svc.wire.filters import filter_from

TEXT = documents_pb2.MetadataValue(string_value="a")
NUMBER = documents_pb2.MetadataValue(number_value=2023)
TRUTH = documents_pb2.MetadataValue(bool_value=True)
MOMENT = documents_pb2.MetadataValue(time_value=Timestamp(seconds=86_400))
EXISTS = search_pb2.Filter(field_exists="category")


def equals(field: str, value: documents_pb2.MetadataValue) -> search_pb2.Filter:
    """Returns a comparison."""
    return search_pb2.Filter(equals=search_pb2.Comparison(field=field, value=value))


def one_of(field: str, *values: documents_pb2.MetadataValue) -> search_pb2.Filter:
    """Returns a membership."""
    return search_pb2.Filter(one_of=search_pb2.Membership(field=field, values=values))


def in_range(field: str, **bounds: documents_pb2.MetadataValue) -> search_pb2.Filter:
    """Returns a range."""
    return search_pb2.Filter(range=search_pb2.Range(field=field, **bounds))


def group(*parts: search_pb2.Filter) -> search_pb2.FilterGroup:
    """Returns a group."""
    return search_pb2.FilterGroup(filters=parts)


def nested(depth: int) -> search_pb2.Filter:
    """Returns a condition inside of negations, `depth` levels in all."""
    message = EXISTS
    for _ in range(depth - 1):
        message = search_pb2.Filter(negation=message)
    return message


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (equals("metadata.x", TRUTH), Equals("metadata.x", True)),
        (equals("valid_at", MOMENT), Equals("valid_at", datetime(1970, 1, 2, tzinfo=UTC))),
        (one_of("version", TEXT, TEXT), OneOf("version", ("a", "a"))),
        (in_range("metadata.y", at_least=NUMBER), InRange("metadata.y", 2023.0)),
        (in_range("metadata.y", less_than=NUMBER), InRange("metadata.y", None, 2023.0)),
        (EXISTS, FieldExists("category")),
        (search_pb2.Filter(all_of=group(EXISTS)), AllOf((FieldExists("category"),))),
        (search_pb2.Filter(any_of=group(EXISTS)), AnyOf((FieldExists("category"),))),
        (nested(2), Negation(FieldExists("category"))),
    ],
    ids=str,
)
def test_conditions_are_read(message: search_pb2.Filter, expected: Filter) -> None:
    """Each kind, with typed values."""
    assert repr(filter_from(message, "filter")) == repr(expected)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (search_pb2.Filter(), "filter"),
        (equals("title", TEXT), "filter.equals.field"),
        (equals("", TEXT), "filter.equals.field"),
        (equals("metadata.", TEXT), "filter.equals.field"),
        (equals("category", NUMBER), "filter.equals.value"),
        (equals("superseded", TEXT), "filter.equals.value"),
        (equals("valid_at", NUMBER), "filter.equals.value"),
        (equals("metadata.x", documents_pb2.MetadataValue()), "filter.equals.value"),
        (
            equals("metadata.x", documents_pb2.MetadataValue(number_value=float("nan"))),
            "filter.equals.value",
        ),
        (one_of("category"), "filter.one_of.values"),
        (one_of("category", TEXT, TRUTH), "filter.one_of.values[1]"),
        (one_of("metadata.x", *[TEXT] * 1_001), "filter.one_of.values"),
        (in_range("metadata.x"), "filter.range"),
        (in_range("metadata.x", at_least=TEXT, less_than=NUMBER), "filter.range"),
        (in_range("superseded", at_least=TRUTH), "filter.range.at_least"),
        (in_range("category", less_than=NUMBER), "filter.range.less_than"),
        (search_pb2.Filter(field_exists="x"), "filter.field_exists"),
        (search_pb2.Filter(any_of=group()), "filter.any_of.filters"),
        (search_pb2.Filter(any_of=group(*[EXISTS] * 101)), "filter.any_of.filters"),
        (
            search_pb2.Filter(all_of=group(EXISTS, equals("x", TEXT))),
            "filter.all_of.filters[1].equals.field",
        ),
        (nested(9), "filter" + ".negation" * 8),
    ],
)
def test_conditions_out_of_bounds_are_refused(message: search_pb2.Filter, field: str) -> None:
    """The place in the request is named."""
    with pytest.raises(InvalidArgument) as caught:
        filter_from(message, "filter")

    assert caught.value.field == field


def test_the_bounds_themselves_are_taken() -> None:
    """A thousand values, a hundred parts, eight levels."""
    filter_from(one_of("category", *[TEXT] * 1_000), "filter")
    filter_from(search_pb2.Filter(all_of=group(*[EXISTS] * 100)), "filter")
    filter_from(nested(8), "filter")


def test_conditions_are_bounded_in_all() -> None:
    """Groups of groups would make one search cost without end."""
    wide = search_pb2.Filter(any_of=group(*[EXISTS] * 100))
    with pytest.raises(InvalidArgument, match="more than 1000 conditions"):
        filter_from(search_pb2.Filter(any_of=group(*[wide] * 10)), "filter")
