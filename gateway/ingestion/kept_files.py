"""Received files that a job still needs, on disk for good until they are removed.

A file is named by the id of its job and its position in it.
"""

from __future__ import annotations

import os
from pathlib import Path

from gateway.ingestion.received_files import ReceivedFile, full_disk_named, synced


class KeptFiles:
    """A folder of files, on the file system that files are received on. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, file: ReceivedFile, job_id: str, index: int) -> None:
        """Moves a received file in; it survives a loss of power once `sync` has returned.

        ResourceExhausted: no disk space left.
        """
        with full_disk_named():
            synced(file.path)
            os.replace(file.path, self.path_of(job_id, index))

    def sync(self) -> None:
        """Has the names of the files that were moved in reach the disk."""
        with full_disk_named():
            synced(self._folder)

    def path_of(self, job_id: str, index: int) -> Path:
        """Returns where the file at a position of a job is kept."""
        return self._folder / f"{job_id}-{index}"

    def remove(self, job_id: str, index: int) -> None:
        """Removes a file; one that is not there is no error."""
        self.path_of(job_id, index).unlink(missing_ok=True)

    def all(self) -> list[tuple[str, int]]:
        """Lists job and position of every file."""
        names = (path.name.partition("-") for path in self._folder.iterdir())
        return sorted((job_id, int(index)) for job_id, _, index in names if index.isdecimal())
