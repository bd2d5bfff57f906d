"""What a key looks like, and that its text is shown nowhere by accident."""

from __future__ import annotations

import pytest

from chassis.errors import Unauthenticated
from gateway.access.access import presented_key
from gateway.access.api_key import api_key_from, new_api_key


def test_a_new_key_is_random_and_reads_back() -> None:
    """Its secret part holds 256 bits: 43 characters of base64."""
    keys = [new_api_key() for _ in range(100)]

    assert len({key.prefix for key in keys}) == len({key.text for key in keys}) == 100
    for key in keys:
        assert api_key_from(key.text) == key
        assert len(key.text.removeprefix(key.prefix)) == 1 + 43


def test_no_representation_shows_the_secret() -> None:
    """Neither that of the key nor one of what holds it."""
    key = new_api_key()

    assert key.text not in repr([key])
    assert key.prefix in repr(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "jst_",
        "JST_4F1C09AB12CD_" + "a" * 43,
        "jst_4f1c09ab12cd_" + "a" * 42,
        "jst_4f1c09ab12cd_" + "a" * 44,
        "jst_4f1c09ab12cd_" + "é" * 43,
        "jst_4f1c09ab12cd_" + "a" * 42 + "\n",
        "jst_4f1c09ab12c٣_" + "a" * 43,
        "a" * 10_000_000,
    ],
)
def test_what_is_no_key_is_not_read(text: str) -> None:
    """Wrong case, length or alphabet, other digits of Unicode, line ends, megabytes."""
    assert api_key_from(text) is None


def test_a_key_comes_as_bearer_in_any_case() -> None:
    """The scheme's case does not count, the key's does (RFC 7235)."""
    key = new_api_key()

    for scheme in ("Bearer", "bearer", "BEARER"):
        assert presented_key([f"{scheme} {key.text}"]) == key
        assert presented_key([f"{scheme}  {key.text} "]) == key


@pytest.mark.parametrize(
    ("authorizations", "reason"),
    [
        ([], "KEY_MISSING"),
        ([""], "KEY_NOT_VALID"),
        (["{key}"], "KEY_NOT_VALID"),
        (["Basic {key}"], "KEY_NOT_VALID"),
        (["Bearer"], "KEY_NOT_VALID"),
        (["Bearer\t{key}"], "KEY_NOT_VALID"),
        (["Bearer {key}, Bearer {key}"], "KEY_NOT_VALID"),
        (["Bearer {key}", "Bearer {key}"], "KEY_NOT_VALID"),
    ],
)
def test_anything_else_is_refused_without_being_repeated(
    authorizations: list[str], reason: str
) -> None:
    """Two headers too: who checks one and who uses the other could differ."""
    key = new_api_key()

    with pytest.raises(Unauthenticated) as refused:
        presented_key([value.format(key=key.text) for value in authorizations])

    assert refused.value.reason == reason
    assert key.text not in refused.value.message
