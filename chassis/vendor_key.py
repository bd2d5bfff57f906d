"""A vendor's key, which stands in a variable or in a file."""

from pathlib import Path

from pydantic import SecretStr


def vendor_key(value: SecretStr | None, file: Path | None, variable: str) -> SecretStr | None:
    """Returns the key without white space around it; None if neither holds one.

    `variable` holds the key itself, `variable` with `_FILE` the name of a file, read now. Raises
    ValueError, in words for an operator, if both are set or the file is of no use.
    """
    key = value.get_secret_value().strip() if value is not None else ""
    if file is None:
        return SecretStr(key) if key else None
    if key:
        raise ValueError(f"{variable} and {variable}_FILE are both set; keep one of them")
    try:
        key = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{variable}_FILE={file} cannot be read ({error})") from error
    if not key:
        raise ValueError(f"{variable}_FILE={file} is empty")
    return SecretStr(key)
