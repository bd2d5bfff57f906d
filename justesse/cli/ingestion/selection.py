"""Which files a command line means: files, folders with all that lies in them, and patterns."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

_PATTERN_CHARACTERS = set("*?[")
_PASSED_OVER = (".", "~$")
"""Beginnings of names that belong to systems and editors, not to people."""


@dataclass(frozen=True, slots=True)
class SelectedFile:
    """A file to take in, or a path that cannot be taken in and why."""

    path: Path
    external_id: str
    problem: str = ""

    @property
    def folder_name(self) -> str:
        """Name of the folder that the file lies in."""
        return self.path.absolute().parent.name


def selected_files(paths: Sequence[str]) -> tuple[SelectedFile, ...]:
    """Lists the files that `paths` name, in the order given, those of a folder by name.

    A file from a folder is identified by its path below the folder, any other by its name. A path
    without a file, and a second file of the same id, are listed with their problem.
    """
    return tuple(_each_id_once(file for text in paths for file in _named_by(text)))


def _named_by(text: str) -> Iterator[SelectedFile]:
    path = Path(text)
    if path.is_dir():
        yield from _inside(path)
    elif path.exists():
        yield SelectedFile(path, path.name)
    elif _PATTERN_CHARACTERS.isdisjoint(text):
        yield SelectedFile(path, path.name, "there is no such file or folder")
    else:
        yield from _matching(text)


def _inside(folder: Path) -> Iterator[SelectedFile]:
    names = [
        Path(root, name)
        for root, folders, files in os.walk(folder)
        for name in files
        if not name.startswith(_PASSED_OVER)
        if not _in_hidden_folder(Path(root).relative_to(folder))
    ]
    if not names:
        yield SelectedFile(folder, folder.name, "the folder holds no files")
    for path in sorted(names):
        yield SelectedFile(path, path.relative_to(folder).as_posix())


def _matching(pattern: str) -> Iterator[SelectedFile]:
    matches = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    if not matches:
        yield SelectedFile(Path(pattern), pattern, "no file matches the pattern")
    fixed = _folder_before_pattern(pattern)
    for match in matches:
        path = Path(match)
        yield SelectedFile(path, path.relative_to(fixed).as_posix())


def _folder_before_pattern(pattern: str) -> Path:
    parts = []
    for part in Path(pattern).parts[:-1]:
        if not _PATTERN_CHARACTERS.isdisjoint(part):
            break
        parts.append(part)
    return Path(*parts)


def _in_hidden_folder(relative: Path) -> bool:
    return any(part.startswith(_PASSED_OVER) for part in relative.parts)


def _with_readable_id(file: SelectedFile) -> SelectedFile:
    readable = file.external_id.encode("utf-8", "replace").decode()
    if readable == file.external_id:
        return file
    return replace(
        file, external_id=readable, problem="its name is not valid UTF-8; rename the file"
    )


def _each_id_once(files: Iterable[SelectedFile]) -> Iterator[SelectedFile]:
    first_of: dict[str, Path] = {}
    for file in map(_with_readable_id, files):
        if file.problem:
            yield file
            continue
        first = first_of.setdefault(file.external_id, file.path)
        if first is file.path:
            yield file
        elif first.absolute() != file.path.absolute():
            yield replace(file, problem=f"{first} has the same id {file.external_id!r}")
