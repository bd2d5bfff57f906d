"""Keys of vendors, from a variable or a file."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from chassis.vendor_key import vendor_key


def test_a_key_comes_from_its_variable_or_its_file(tmp_path: Path) -> None:
    """White space around it, such as the end of a line in a file, is no part of it."""
    file = tmp_path / "key"
    file.write_text("  from-file \n")

    from_variable = vendor_key(SecretStr(" from-variable "), None, "A_KEY")
    from_file = vendor_key(SecretStr(" "), file, "A_KEY")

    assert from_variable is not None
    assert from_variable.get_secret_value() == "from-variable"
    assert from_file is not None
    assert from_file.get_secret_value() == "from-file"


def test_no_key_is_none() -> None:
    """Neither is set, or the variable is blank."""
    assert vendor_key(None, None, "A_KEY") is None
    assert vendor_key(SecretStr("  "), None, "A_KEY") is None


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe\xfa"])
def test_a_file_of_no_use_is_named(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty or unreadable: the message names the variable and the file."""
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ValueError, match=f"A_KEY_FILE={file}"):
        vendor_key(None, file, "A_KEY")


def test_two_keys_are_one_too_many(tmp_path: Path) -> None:
    """Which of them counts is not guessed, and neither is shown."""
    file = tmp_path / "key"
    file.write_text("from-file")

    with pytest.raises(ValueError, match="A_KEY and A_KEY_FILE are both set") as caught:
        vendor_key(SecretStr("from-variable"), file, "A_KEY")

    assert "from-" not in str(caught.value)
