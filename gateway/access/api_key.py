"""API keys as text: `jst_<12 hexadecimal digits>_<43 characters>`.

The first two parts are public and name the key in lists and records; the third is 256 random bits
in URL-safe base64. Only its SHA-256 is kept: the bits cannot be guessed, so a slow hash would
protect nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

SECRET_BYTES = 32
_PREFIX_BYTES = 6
_KEY = re.compile(r"(?P<prefix>jst_[0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)
_PREFIX = re.compile(r"jst_[0-9a-f]{12}", re.ASCII)
_LENGTH = 60


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A whole key; its `text` appears in no representation of it."""

    prefix: str
    text: str = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole key, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()


def new_api_key() -> ApiKey:
    """Makes a key of fresh random bits."""
    prefix = f"jst_{secrets.token_hex(_PREFIX_BYTES)}"
    return ApiKey(prefix, f"{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}")


def api_key_from(text: str) -> ApiKey | None:
    """Reads a key; None where the text cannot be one."""
    match = _KEY.fullmatch(text) if len(text) == _LENGTH else None
    return None if match is None else ApiKey(match["prefix"], text)


def is_prefix(text: str) -> bool:
    """Whether the text can be the public part of a key."""
    return _PREFIX.fullmatch(text) is not None


def same_digest(one: str, other: str) -> bool:
    """Compares two digests in a time that does not depend on where they differ."""
    return hmac.compare_digest(one, other)
