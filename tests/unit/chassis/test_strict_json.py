"""JSON without numbers that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.strict_json import NonFiniteNumber, NotJson, parsed_json


@pytest.mark.parametrize("text", ["NaN", "[1, Infinity]", '{"a": -Infinity}', "1e999", "[-1e400]"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    """They would poison an index, and the standard parser lets them pass."""
    assert json.loads(text) is not None
    with pytest.raises(NonFiniteNumber):
        parsed_json(text.encode())


@pytest.mark.parametrize("body", [b"", b"{", b'{"a": [1, 2', b"<html>", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_told_apart(body: bytes) -> None:
    """A cut text may be whole the next time; depth and bad bytes do no harm."""
    with pytest.raises(NotJson):
        parsed_json(body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_everything_else_is_read_as_by_the_standard_parser(value: object) -> None:
    """Same values from the same text."""
    assert parsed_json(json.dumps(value).encode()) == value
