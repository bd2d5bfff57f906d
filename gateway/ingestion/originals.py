"""Keeps the files that documents were made from, so that they can be cut anew without an upload.

A file is named by the SHA-256 of its bytes, in a folder of its workspace; equal files are kept
once. The first 64 characters of a document's content hash name its original.
"""

from __future__ import annotations

import os
from pathlib import Path

from gateway.ingestion.received_files import ReceivedFile, full_disk_named

_PREFIX_LENGTH = 2


class Originals:
    """A folder of originals."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path_of(self, workspace: str, sha256: str, suffix: str) -> Path:
        """Returns where an original is kept; `workspace` is a slug, `suffix` begins with a dot."""
        return self._folder / workspace / sha256[:_PREFIX_LENGTH] / f"{sha256}{suffix}"

    def keep(self, file: ReceivedFile, workspace: str, suffix: str) -> Path:
        """Moves a received file in; it is on disk for good once this returns. Blocks.

        ResourceExhausted: no disk space left.
        """
        target = self.path_of(workspace, file.sha256, suffix)
        with full_disk_named():
            if target.exists():
                return target
            target.parent.mkdir(parents=True, exist_ok=True)
            _synced(file.path)
            os.replace(file.path, target)
            for folder in (target.parent, target.parent.parent, self._folder):
                _synced(folder)
        return target


def _synced(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
