"""Starts peers in processes of their own and asks them in turn."""

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from benchmarks.interleaving import Round
from benchmarks.search_corpus import Question

PACKAGES = {
    "justesse": "retriever_svc",
    "justesse_int8": "retriever_svc",
    "justesse_tenth": "retriever_svc",
    "qdrant_edge": "qdrant_edge",
    "chroma": "chromadb",
    "lance": "lancedb",
    "milvus_lite": "milvus_lite",
}
"""The Python package that each peer needs."""


def installed(name: str) -> bool:
    """Whether the peer can be measured here."""
    return find_spec(PACKAGES[name]) is not None


class PeerProcess:
    """One peer over a folder of its own, which goes when this closes."""

    def __init__(self, name: str, questions: Sequence[Question]) -> None:
        self.name = name
        self._folder = tempfile.TemporaryDirectory(prefix=f"{name}-bench-")
        self._questions = Path(self._folder.name) / "questions"
        self._questions.write_bytes(pickle.dumps(list(questions)))
        self._process = self._started()

    def __enter__(self) -> "PeerProcess":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def ask(self, command: str, *arguments: int) -> dict[str, Any]:
        """Runs a command of `PeerServer`. Raises RuntimeError where the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(orjson.dumps([command, *arguments]) + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process of {self.name} ended at {command!r}")
        content: dict[str, Any] = orjson.loads(answer)
        return content

    def reopen(self) -> None:
        """Closes the peer and opens its folder in a new process."""
        self.ask("close")
        self._process.communicate()
        self._process = self._started()

    def rounds(self, size: int) -> Callable[[], Round]:
        """Returns what runs the next round of so many questions."""
        first = -size

        def run() -> Round:
            nonlocal first
            first += size
            answer = self.ask("round", first, size)
            return Round(answer["seconds"], answer["cpu_s"], answer["core"])

        return run

    def _started(self) -> "subprocess.Popen[bytes]":
        command = (
            sys.executable,
            "-m",
            "benchmarks.peer_server",
            self.name,
            str(Path(self._folder.name) / "data"),
            str(self._questions),
        )
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
