"""Numbers and times as the commands say them."""

import pytest

from justesse.cli.wording import purging


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, ""),
        (14_400, ", bytes gone within 4 hours"),
        (3_600, ", bytes gone within 1 hour"),
        (5_400, ", bytes gone within 90 minutes"),
        (61, ", bytes gone within 61 seconds"),
    ],
)
def test_a_bound_is_said_in_its_largest_whole_unit(seconds: int, expected: str) -> None:
    """Exactly, and not at all where nothing is promised."""
    assert purging(seconds) == expected
