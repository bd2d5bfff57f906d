"""The Retry-After header in all its shapes."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.retry_after import retry_after_s

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("1e9", 1e9),
        ("-1", None),
        ("-0.5", None),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 99 Foo 2026 99:99:99 GMT", None),
        (formatdate(NOW + 20, usegmt=True), 20.0),
        (formatdate(NOW - 20, usegmt=True), 0.0),
        ("Fri, 15 Jan 2027 08:00:30", 30.0),
    ],
)
def test_each_shape_is_read(value: str, seconds: float | None) -> None:
    """Seconds and dates are obeyed, negative and unreadable values ignored."""
    assert retry_after_s({"retry-after": value}, lambda: NOW) == seconds


def test_an_absent_header_asks_for_nothing() -> None:
    """Most answers have none."""
    assert retry_after_s({}, lambda: NOW) is None


def test_milliseconds_are_the_finer_value() -> None:
    """A vendor that sends both means the same, but rounds the seconds."""
    headers = {"retry-after": "1", "retry-after-ms": "250"}
    assert retry_after_s(headers, lambda: NOW) == 0.25
    assert retry_after_s({"retry-after": "1", "retry-after-ms": "x"}, lambda: NOW) == 1.0


@given(st.text(max_size=40))
def test_no_value_does_harm(value: str) -> None:
    """Whatever a vendor writes, the result is absent or a number of seconds from 0 up."""
    seconds = retry_after_s({"retry-after": value}, lambda: NOW)
    assert seconds is None or seconds >= 0
