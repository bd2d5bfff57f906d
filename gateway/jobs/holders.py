"""Who holds leases, and which of them are dead.

A process that works on tasks locks a file of its own in a folder that it shares with the others.
The system drops the lock when the process dies, however it dies, so that the next one to start need
not wait for its leases to expire.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SUFFIX = ".holder"


class Holders:
    """The folder of the locked files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def claimed(self) -> Iterator[str]:
        """Yields a name that nobody else has, alive until the end of the block or the process."""
        self._folder.mkdir(parents=True, exist_ok=True)
        name = secrets.token_hex(16)
        path = self._folder / f"{name}{_SUFFIX}"
        # Locked before it has its name: nobody may take it for that of a dead process.
        unnamed = self._folder / f"{name}.new"
        with unnamed.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.replace(unnamed, path)
            try:
                yield name
            finally:
                path.unlink(missing_ok=True)

    def dead(self) -> list[str]:
        """Lists the names of processes that ended without giving theirs up."""
        return [path.stem for path in self._folder.glob(f"*{_SUFFIX}") if _is_free(path)]

    def forget(self, name: str) -> None:
        """Removes the name of a dead process."""
        (self._folder / f"{name}{_SUFFIX}").unlink(missing_ok=True)


def _is_free(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True
