"""A file system in memory that is soon full and can be made larger."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """A mounted file system of a given size."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def resize(self, mebibytes: int) -> None:
        """Sets another size; what is there stays."""
        subprocess.run(
            ["mount", "-o", f"remount,size={mebibytes}m", str(self.path)],
            check=True,
            capture_output=True,
        )


@contextmanager
def small_disk(path: Path, mebibytes: int) -> Iterator[SmallDisk]:
    """Mounts the disk; skips the test where mounting is not permitted."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(path)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True, capture_output=True)
