"""A Milvus Lite server of the tests' own, in a process of its own.

`python -m tests.fakes.milvus_lite FOLDER PORT` serves until it is ended; port 0 means a free one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[2]


class MilvusLite:
    """A server that can be killed and started again over the same folder and port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    @property
    def uri(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts the process and waits until it serves."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self._folder), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
        )
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        if not told:
            raise AssertionError(f"Milvus Lite ended with {self._process.wait()}")
        self.port = int(told)

    def kill(self) -> None:
        """Ends the process without any warning."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def running_milvus() -> Iterator[MilvusLite]:
    """Runs a server over a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="justesse-milvus-") as folder:
        server = MilvusLite(Path(folder) / "data")
        server.start()
        try:
            yield server
        finally:
            server.kill()


def _serve(folder: str, port: int) -> None:
    from milvus_lite.adapter.grpc.server import start_server_in_thread

    # Without a name for it, the server would end at once.
    server, _, bound = start_server_in_thread(folder, "127.0.0.1", port)
    sys.stdout.write(f"{bound}\n")
    sys.stdout.flush()
    server.wait_for_termination()


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
