"""Which files a command line means: files, folders with all that lies in them, and patterns."""

import fnmatch
import glob
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from justesse.cli.ingestion.folders import contents_of, unreadable_folders
from justesse.cli.system_errors import words_of

STANDARD_INPUT = "-"
_PATTERN_CHARACTERS = set("*?[")


@dataclass(frozen=True, slots=True)
class SelectedFile:
    """A file to take in, or a path that cannot be taken in and why."""

    path: Path
    external_id: str
    problem: str = ""
    content: bytes | None = None
    """What was read already, for a file that has no path."""

    @property
    def folder_name(self) -> str:
        """Name of the folder that the file lies in; empty for a file that has no path."""
        return "" if self.content is not None else self.path.absolute().parent.name


def selected_files(
    paths: Sequence[str], file_name: str = "", globs: Sequence[str] = ()
) -> tuple[SelectedFile, ...]:
    """Lists the files that `paths` name, in the order given, those of a folder by name.

    Of the files in folders only those count that one of `globs` fits, where there are any: "*.md"
    fits at any depth, "orders/*.md" in any folder orders.

    A file from a folder is identified by its path below the folder, any other by its name, standard
    input ("-") by `file_name`, all with composed accents. A path without a file, what cannot be
    read, and a second file of the same id are listed with their problem.
    """
    named = (file for text in paths for file in _named_by(text, file_name, globs))
    return tuple(_each_id_once(named))


def _named_by(text: str, file_name: str, globs: Sequence[str]) -> Iterator[SelectedFile]:
    if text == STANDARD_INPUT:
        yield SelectedFile(Path(text), file_name, content=sys.stdin.buffer.read())
        return
    path = Path(text)
    try:
        if path.is_dir():
            yield from _inside(path, globs)
        elif path.exists():
            yield SelectedFile(path, path.name)
        elif _PATTERN_CHARACTERS.isdisjoint(text):
            yield SelectedFile(path, path.name, "there is no such file or folder")
        else:
            yield from _matching(text)
    except OSError as error:
        yield SelectedFile(path, path.name, f"it cannot be read: {words_of(error)}")


def _inside(folder: Path, globs: Sequence[str]) -> Iterator[SelectedFile]:
    empty = True
    for found in contents_of(folder):
        # The folder itself has no path below itself.
        name = found.path.relative_to(folder).as_posix() if found.path != folder else folder.name
        if globs and not found.problem and not _fits(name, globs):
            continue
        empty = False
        yield SelectedFile(found.path, name, found.problem)
    if empty:
        fitting = f" that {' or '.join(globs)} fits" if globs else ""
        yield SelectedFile(folder, folder.name, f"the folder holds no files{fitting}")


def _fits(name: str, globs: Sequence[str]) -> bool:
    # A pattern fits from the right, so that a leading "**/" says nothing.
    return any(PurePosixPath(name).match(glob.removeprefix("**/")) for glob in globs)


def _matching(pattern: str) -> Iterator[SelectedFile]:
    fixed, rest = _split_pattern(pattern)
    matches = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    unreadable = [
        found
        for found in unreadable_folders(fixed)
        if _may_hold_matches(found.path.relative_to(fixed), rest)
    ]
    if not matches and not unreadable:
        yield SelectedFile(Path(pattern), pattern, "no file matches the pattern")
    for folder in unreadable:
        yield SelectedFile(folder.path, folder.path.relative_to(fixed).as_posix(), folder.problem)
    for match in matches:
        path = Path(match)
        yield SelectedFile(path, path.relative_to(fixed).as_posix())


def _split_pattern(pattern: str) -> tuple[Path, tuple[str, ...]]:
    """Returns the folder before the first part with a pattern character, and the parts from it."""
    parts = Path(pattern).parts
    count = next(
        index for index, part in enumerate(parts) if not _PATTERN_CHARACTERS.isdisjoint(part)
    )
    count = min(count, len(parts) - 1)
    return Path(*parts[:count]), parts[count:]


def _may_hold_matches(folder: Path, parts: Sequence[str]) -> bool:
    """Tells whether a pattern looks into a folder, both below the same folder."""
    for position, name in enumerate(folder.parts):
        if position >= len(parts) - 1:
            return "**" in parts[:position]
        if parts[position] == "**":
            return True
        if not fnmatch.fnmatch(name, parts[position]):
            return False
    return True


def _with_readable_id(file: SelectedFile) -> SelectedFile:
    composed = unicodedata.normalize("NFC", file.external_id)
    readable = composed.encode("utf-8", "replace").decode()
    if readable == composed:
        return replace(file, external_id=composed)
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
