"""Disk space kept aside, so that deletions work, and a start succeeds, when the disk is full."""

import os
from pathlib import Path

import structlog

_log = structlog.get_logger("retriever.disk")


class DiskReserve:
    """A file that holds space; given free when a deletion finds none, taken again when there is.

    While it is free, nothing but deletions may be written: they are what it is for.
    """

    def __init__(self, path: Path, size: int) -> None:
        """`size` in bytes; 0 keeps nothing aside. What an earlier process left is given free."""
        self._path = path
        self._size = size
        self._held = False
        self._told = False
        path.unlink(missing_ok=True)

    def release(self) -> bool:
        """Gives the space free; returns whether any was held."""
        if not self._held:
            return False
        self._path.unlink(missing_ok=True)
        self._held = False
        return True

    def restore(self) -> bool:
        """Takes the space, where it is not held; returns False if the disk does not have it."""
        if self._held or self._size == 0:
            return True
        try:
            _allocate(self._path, self._size)
        except OSError as error:
            self._path.unlink(missing_ok=True)
            if not self._told:
                _log.warning("no disk space to keep aside", bytes=self._size, error=error.strerror)
            self._told = True
            return False
        self._held, self._told = True, False
        return True


def _allocate(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            written = 0
            while written < size:
                written += os.write(descriptor, bytes(min(size - written, 2**20)))
    finally:
        os.close(descriptor)
