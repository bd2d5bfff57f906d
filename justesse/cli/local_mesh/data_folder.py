"""The folder that a mesh keeps its data in; one mesh at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from justesse.cli.system_errors import words_of


class FolderTakenError(Exception):
    """Another mesh uses the folder."""


class FolderUnusableError(Exception):
    """A folder cannot be made, or nothing can be written into it."""


def make_folder(folder: Path, name: str) -> None:
    """Makes a folder if need be and tries to write into it; FolderUnusableError if that fails.

    `name` says in the message what the folder is for.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError as error:
        raise FolderUnusableError(
            f"{name} cannot be {error.filename}: it is a file; name another"
        ) from error
    except OSError as error:
        raise FolderUnusableError(
            f"{name} cannot be {folder}: {words_of(error)}; name another"
        ) from error


@contextmanager
def claimed_folder(folder: Path) -> Iterator[Path]:
    """Makes the folder if need be and keeps other meshes off it; yields its absolute path.

    Raises FolderTakenError where another mesh has it, FolderUnusableError where it cannot be made
    or written.
    """
    folder = folder.resolve()
    make_folder(folder, "the data folder")
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
