"""URLs of databases, as settings hold them."""

from __future__ import annotations

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError


def checked_database_url(url: str) -> str:
    """Returns a database URL as it is; ValueError, for settings, where it is none."""
    try:
        make_url(url).get_dialect()
    except ArgumentError as error:
        raise ValueError(f"no database URL: {str(error).splitlines()[0]}") from error
    return url
