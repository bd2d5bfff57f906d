"""The name by which this program was started, for commands that people are to type."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def program_name() -> str:
    """Returns what starts this program again from this folder: `justesse`, a path, or a module."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{shlex.quote(_shortest(Path(sys.executable)))} -m justesse"
    if started.name != "justesse":
        # Not the program itself: a test, or a Python that runs its parts.
        return "justesse"
    found = shutil.which("justesse")
    if found and _same(Path(found), started):
        return "justesse"
    return shlex.quote(_shortest(started))


def _shortest(path: Path) -> str:
    """Writes a path from this folder where it lies below, links left as they are."""
    absolute = Path(os.path.abspath(path))
    here = Path.cwd()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)


def _same(one: Path, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)
