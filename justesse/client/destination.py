"""The gateway that a client calls, and the API key that it shows there.

A key is given to the client, or stands in the environment: JUSTESSE_API_KEY holds it,
JUSTESSE_API_KEY_FILE names a file that does.
"""

import os
import re
from dataclasses import dataclass, field

KEY_VARIABLE = "JUSTESSE_API_KEY"
KEY_FILE_VARIABLE = "JUSTESSE_API_KEY_FILE"
# What can stand in a header; a gateway says whether it is a key of its own.
_SENDABLE = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where calls go, and the key they carry; empty for none."""

    address: str
    api_key: str = field(default="", repr=False)


def destination_of(address: str, api_key: str | None) -> Destination:
    """Returns the destination, with the key of the environment where none is given.

    Raises ValueError for a key that cannot be sent, which the text does not show.
    """
    return Destination(address, configured_api_key() if api_key is None else _checked(api_key))


def configured_api_key() -> str:
    """Returns the key of the environment, empty for none; ValueError as `destination_of`."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    file = os.environ.get(KEY_FILE_VARIABLE, "")
    if not file:
        return _checked(key)
    if key:
        raise ValueError(f"{KEY_VARIABLE} and {KEY_FILE_VARIABLE} are both set; keep one of them")
    try:
        with open(file, encoding="utf-8") as opened:
            key = opened.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the API key file {file} cannot be read: {error}") from error
    if not key:
        raise ValueError(f"the API key file {file} is empty")
    return _checked(key)


def _checked(key: str) -> str:
    if key and not _SENDABLE.fullmatch(key):
        raise ValueError("the API key holds a blank, a character that no key has, or too many")
    return key
