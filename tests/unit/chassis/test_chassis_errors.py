"""The ServiceError family."""

from __future__ import annotations

import copy

import pytest

from chassis import errors
from chassis.errors import FieldViolation, InvalidArgument, ResourceExhausted, ServiceError

FAMILY = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ServiceError) and kind.__name__[0] != "_"
]


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)
def test_every_error_shows_its_message_and_a_reason(kind: type[ServiceError]) -> None:
    """str() is the message; without a given reason there is the default of the class."""
    error = kind("the door is locked")
    assert str(error) == error.message == "the door is locked"
    assert error.reason == kind.default_reason


def test_a_given_reason_replaces_the_default() -> None:
    """Services name their own reasons."""
    assert errors.NotFound("gone", reason="WORKSPACE_NOT_FOUND").reason == "WORKSPACE_NOT_FOUND"


@pytest.mark.parametrize("reason", ["lower", "WITH SPACE", "1ST", "X" * 64, "É"])
def test_a_reason_that_programs_could_not_rely_on_is_refused(reason: str) -> None:
    """Only UPPER_SNAKE of at most 63 characters can be a reason."""
    with pytest.raises(ValueError, match="UPPER_SNAKE"):
        ServiceError("x", reason=reason)


def test_a_field_becomes_a_violation_with_the_message() -> None:
    """One wrong field needs no list."""
    error = InvalidArgument("must not be empty", field="queries[0].text")
    assert error.violations == (FieldViolation("queries[0].text", "must not be empty"),)


def test_given_violations_are_kept_whole() -> None:
    """Several wrong fields are all reported."""
    violations = [FieldViolation("a", "too long"), FieldViolation("b", "negative")]
    assert InvalidArgument("two mistakes", violations=violations).violations == tuple(violations)
    assert InvalidArgument("no field").violations == ()


def test_an_error_can_be_copied() -> None:
    """Copies, which some libraries make, keep everything."""
    twin = copy.copy(ResourceExhausted("full", retry_after_s=2.5, reason="DISK_FULL"))
    assert (twin.message, twin.retry_after_s, twin.reason) == ("full", 2.5, "DISK_FULL")
