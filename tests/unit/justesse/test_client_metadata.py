"""Typed facts on their way there and back."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from justesse.client.ingestion import header_message
from justesse.client.metadata import (
    LARGEST_EXACT_INTEGER,
    MetadataValue,
    metadata_from,
    metadata_messages,
)
from justesse.gateway.v1 import filters_pb2

MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
VALUES = st.one_of(
    st.text(),
    st.booleans(),
    st.floats(allow_nan=False),
    st.integers(-LARGEST_EXACT_INTEGER, LARGEST_EXACT_INTEGER),
    MOMENTS,
)


@given(st.dictionaries(st.text(min_size=1), VALUES, max_size=4))
@settings(derandomize=True, max_examples=60)
def test_facts_survive_the_way_there_and_back(metadata: dict[str, MetadataValue]) -> None:
    """Whatever may be said comes back equal and of its own kind; integers come back as floats."""
    decoded = metadata_from(metadata_messages(metadata))
    assert decoded == metadata
    for name, value in metadata.items():
        assert isinstance(decoded[name], float if type(value) in (int, float) else type(value))


def test_truth_is_no_number() -> None:
    """True stays a truth value although Python counts it among the integers."""
    assert metadata_messages({"paid": True})["paid"].WhichOneof("kind") == "bool_value"


def test_moment_of_another_zone_is_the_same_moment() -> None:
    """A moment comes back in UTC, unchanged."""
    moment = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    decoded = metadata_from(metadata_messages({"at": moment}))["at"]
    assert decoded == moment
    assert isinstance(decoded, datetime)
    assert decoded.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (datetime(2024, 5, 1), ValueError, "metadata due: the moment .* has no time zone"),
        (2**53 + 1, ValueError, "metadata due: 9007199254740993 is too large"),
        (["a"], TypeError, "metadata due: list is not a type of metadata"),
        (None, TypeError, "metadata due: NoneType is not a type of metadata"),
    ],
)
def test_what_would_change_on_its_way_is_refused(
    value: Any, error: type[Exception], text: str
) -> None:
    """A fact that cannot be kept exactly is refused by name before anything is sent."""
    with pytest.raises(error, match=text):
        metadata_messages({"due": value})


def test_fact_of_unknown_kind_is_left_out() -> None:
    """A kind of value that a newer service sends does not break an older client."""
    messages = {
        "new": filters_pb2.MetadataValue(),
        "old": filters_pb2.MetadataValue(string_value="x"),
    }
    assert metadata_from(messages) == {"old": "x"}


def test_misspelt_fact_is_refused() -> None:
    """A fact that no service knows is not dropped in silence."""
    facts: Any = {"titel": "Tarifs"}
    with pytest.raises(TypeError, match="unknown facts: titel; known: external_id, title"):
        header_message("demo", "a.md", facts)


def test_validity_needs_a_time_zone() -> None:
    """The moments of a document's validity are as strict as metadata."""
    with pytest.raises(ValueError, match=r"valid_until: the moment .* has no time zone"):
        header_message("demo", "a.md", {"valid_until": datetime(2024, 5, 1)})
