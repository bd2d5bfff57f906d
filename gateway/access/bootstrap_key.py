"""The first key, which comes from a file and grants everything for as long as it stands there.

It is in no database, so it works where that is lost or empty, on every replica that has the file.
The file is read again and again: another key in it takes the place of the one before, and a file
that is gone or holds no key ends it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import structlog

from chassis.binding import EXIT_CONFIG, StartError
from gateway.access.api_key import ApiKey, api_key_from
from gateway.access.grants import EVERYTHING
from gateway.access.key_record import KeyRecord

NAME = "bootstrap"
_MOST_BYTES = 4096

_log = structlog.get_logger("gateway.access")


class BootstrapKey:
    """The key in a file; `record` is None while there is none."""

    def __init__(self, file: Path) -> None:
        """Reads the file. Raises StartError where it holds no key; the text does not show it."""
        self._file = file
        try:
            key = _key_in(file)
        except ValueError as error:
            raise StartError(
                f"JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE={file}: {error}", exit_code=EXIT_CONFIG
            ) from error
        self.record: KeyRecord | None = _record_of(key)

    def refresh(self) -> None:
        """Reads the file again."""
        try:
            self.record = _record_of(_key_in(self._file))
        except ValueError as error:
            if self.record is not None:
                _log.error("the bootstrap key is not valid any more", why=str(error))
            self.record = None


def _key_in(file: Path) -> ApiKey:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES)
    except OSError as error:
        raise ValueError(f"the file cannot be read ({error.strerror})") from error
    key = api_key_from(content.decode("ascii", "replace").strip())
    if key is None:
        raise ValueError(
            "the file holds no API key; write one into it with 'justesse keys generate FILE'"
        )
    return key


def _record_of(key: ApiKey) -> KeyRecord:
    return KeyRecord(key.prefix, NAME, key.digest, EVERYTHING, datetime.now(UTC))
