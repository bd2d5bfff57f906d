"""What lies in a folder, and what in it cannot be read."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from justesse.cli.system_errors import words_of

_PASSED_OVER = (".", "~$")
"""Beginnings of names that belong to systems and editors, not to people."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file in a folder, or a folder that cannot be read and why."""

    path: Path
    problem: str = ""


def contents_of(folder: Path) -> Iterator[Found]:
    """Yields the files below a folder by path, without those of systems and editors.

    Links to folders are not followed. A folder that cannot be read is yielded with its problem, as
    is what is no regular file: reading a pipe would never end.
    """
    yield from sorted([*unreadable_folders(folder), *_files(folder)], key=lambda found: found.path)


def unreadable_folders(folder: Path) -> Iterator[Found]:
    """Yields the folders that cannot be read, `folder` itself among them."""
    errors: list[OSError] = []
    for _, folders, _ in os.walk(folder, onerror=errors.append):
        folders[:] = _shown(folders)
    for error in errors:
        yield Found(Path(error.filename), f"the folder cannot be read: {words_of(error)}")


def _files(folder: Path) -> Iterator[Found]:
    for root, folders, files in os.walk(folder):
        folders[:] = _shown(folders)
        for name in _shown(files):
            path = Path(root, name)
            yield Found(path, "" if path.is_file() else _why_no_file(path))


def _shown(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith(_PASSED_OVER)]


def _why_no_file(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return "its link leads nowhere"
    return "it is no regular file"
