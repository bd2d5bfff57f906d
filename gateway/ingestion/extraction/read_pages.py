"""Keeps the text of pages that were read in their images until their document is stored.

Reading one takes seconds, and a file may have hundreds: an attempt that is made again after a kill
or an outage goes on where the one before ended. Pages that could not be read are tried again.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.registry import EXTRACTOR_VERSION
from gateway.ingestion.extraction.serialization import extraction_from_json, extraction_to_json

_log = structlog.get_logger("gateway.ingestion.extraction")

_PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class ReadPages:
    """The pages of one file that were read; methods block."""

    folder: Path

    def get(self, number: int) -> Extraction | None:
        """Returns what was read on a page, from 1; None where it was not, or cannot be told."""
        try:
            return extraction_from_json(self._path(number).read_bytes())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, number: int, page: Extraction) -> None:
        """Keeps what was read on a page; a disk that is full costs the reuse only."""
        path = self._path(number)
        partial = path.with_suffix(_PARTIAL)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(extraction_to_json(page))
            os.replace(partial, path)
        except OSError as error:
            _log.warning("read page not kept", error=str(error))
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def forget(self) -> None:
        """Removes all of them."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.json"


@dataclass(frozen=True, slots=True)
class ReadPagesFolder:
    """Read pages by file."""

    folder: Path

    def of(self, sha256: str) -> ReadPages:
        """Returns the pages of the file with this SHA-256, as this build reads it."""
        return ReadPages(self.folder / f"{sha256}-{EXTRACTOR_VERSION}")

    def sweep(self, older_than_s: float) -> int:
        """Removes the pages of files that nobody came back to; returns of how many files."""
        limit = time.time() - older_than_s
        old = [path for path in self._folders() if path.stat().st_mtime < limit]
        for path in old:
            ReadPages(path).forget()
        return len(old)

    def _folders(self) -> list[Path]:
        return list(self.folder.iterdir()) if self.folder.is_dir() else []
