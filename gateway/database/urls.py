"""URLs of databases, as settings hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError


def checked_database_url(url: str) -> str:
    """Returns a database URL as it is; ValueError, for settings, where it is none."""
    try:
        make_url(url).get_dialect()
    except ArgumentError as error:
        raise ValueError(f"no database URL: {str(error).splitlines()[0]}") from error
    return url


def with_url_of_file(values: Any) -> Any:
    """Returns settings in which `database_url` is what the file `database_url_file` holds.

    Without a file they stay as they are. ValueError, for settings, where both are given, or the
    file is of no use; the text does not show what it holds.
    """
    file = values.get("database_url_file") if isinstance(values, dict) else None
    if not file:
        return values
    if values.get("database_url"):
        raise ValueError("DATABASE_URL and DATABASE_URL_FILE are both set; keep one of them")
    try:
        url = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"DATABASE_URL_FILE={file} cannot be read ({error})") from error
    if not url:
        raise ValueError(f"DATABASE_URL_FILE={file} is empty")
    return {**values, "database_url": url}
