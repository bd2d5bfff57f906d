"""The folder that a mesh keeps its data in; one mesh at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FolderTakenError(Exception):
    """Another mesh uses the folder."""


@contextmanager
def claimed_folder(folder: Path) -> Iterator[Path]:
    """Makes the folder if need be and keeps other meshes off it; yields its absolute path.

    Raises FolderTakenError where another mesh has it, OSError where it cannot be made or written.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "mesh.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise FolderTakenError(
                f"another mesh uses {folder} (process {lock.read().strip() or 'unknown'}); "
                "stop it, or name another folder with --data-folder"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield folder
