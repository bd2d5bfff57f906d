"""Files on their way in: written to disk while they arrive, gone when nobody holds them."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from chassis.errors import ResourceExhausted

_PREFIX = "incoming-"
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A complete file; `sha256` is in hexadecimal, `size` in bytes."""

    path: Path
    sha256: str
    size: int


class ReceivingFolder:
    """Holds files while they arrive and are read.

    Several processes may share the folder: a file in work is locked, and only files that nobody
    holds are swept away.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def sweep(self) -> int:
        """Removes what killed processes left behind; returns how many files."""
        return sum(_removed_if_free(path) for path in self._folder.glob(f"{_PREFIX}*"))

    @asynccontextmanager
    async def receive(self, content: AsyncIterator[bytes]) -> AsyncIterator[ReceivedFile]:
        """Takes in a whole file, which is removed at the end unless it was moved away.

        ResourceExhausted: no disk space left.
        """
        with full_disk_named():
            descriptor, name = tempfile.mkstemp(prefix=_PREFIX, dir=self._folder)
        path = Path(name)
        digest = hashlib.sha256()
        size = 0
        try:
            with os.fdopen(descriptor, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                async for piece in content:
                    with full_disk_named():
                        await asyncio.to_thread(file.write, piece)
                    digest.update(piece)
                    size += len(piece)
                with full_disk_named():
                    file.flush()
                yield ReceivedFile(path, digest.hexdigest(), size)
        finally:
            _remove(path)

    @contextmanager
    def lent(self, path: Path, sha256: str) -> Iterator[ReceivedFile]:
        """Yields a file that is kept elsewhere under a name of its own, which may be moved away.

        Blocks. FileNotFoundError where there is no such file.
        """
        name = self._folder / f"{_PREFIX}{secrets.token_hex(16)}"
        with path.open("rb") as file:
            # Holds for all names of the file: nobody sweeps this one away.
            fcntl.flock(file, fcntl.LOCK_SH)
            _link(path, name)
            try:
                yield ReceivedFile(name, sha256, os.fstat(file.fileno()).st_size)
            finally:
                _remove(name)


def _link(path: Path, name: Path) -> None:
    try:
        os.link(path, name)
    except OSError:
        # Not every file system knows a second name for a file.
        with full_disk_named():
            shutil.copyfile(path, name)


def synced(path: Path) -> None:
    """Has what was written to a file or folder reach the disk. Blocks."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def full_disk_named() -> Iterator[None]:
    """Turns a full disk into a ResourceExhausted that says so."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        raise ResourceExhausted(
            "no disk space is left for the file; free some, then send it again",
            reason="NO_DISK_SPACE",
        ) from error


def _remove(path: Path) -> None:
    # Quick enough for the event loop, and it must happen even while a call is being cancelled.
    path.unlink(missing_ok=True)


def _removed_if_free(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except (BlockingIOError, FileNotFoundError):
        return False
    return True
