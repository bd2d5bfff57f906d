"""A peer in a process of its own: reads commands from standard input, answers in JSON lines."""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import importlib
import os
import pickle
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.peers.peer import Peer, PeerModule
from benchmarks.resident_memory import resident_bytes
from benchmarks.search_corpus import Question, search_corpus


class PeerServer:
    """Runs the commands."""

    def __init__(self, name: str, folder: Path, question_file: Path) -> None:
        module: PeerModule = importlib.import_module(f"benchmarks.peers.{name}")
        self._questions: Sequence[Question] = pickle.loads(question_file.read_bytes())
        self._resident_before = resident_bytes()
        self._peer: Peer = module.opened(folder)

    def ingest(self, count: int) -> dict[str, Any]:
        """Takes in so many passages and answers the first question.

        Some systems build their indexes with the first search; to take in ends for all of them
        when they answer. Returns the seconds and what is held then.
        """
        corpus = search_corpus(count)
        before = resident_bytes()
        started = time.perf_counter()
        cpu = time.process_time()
        self._peer.ingest(corpus)
        self._peer.search(self._questions[0])
        seconds = time.perf_counter() - started
        return {
            "seconds": seconds,
            "cpu_s": time.process_time() - cpu,
            "held_bytes": resident_bytes() - before,
        }

    def round(self, first: int, size: int) -> dict[str, Any]:
        """Answers some of the questions; returns the seconds of each and the CPU seconds."""
        seconds, core = [], []
        cpu = time.process_time()
        for question in self._questions[first : first + size]:
            started = time.perf_counter()
            answer = self._peer.search(question)
            seconds.append(time.perf_counter() - started)
            core.append(answer.core_s)
        return {"seconds": seconds, "core": core, "cpu_s": time.process_time() - cpu}

    def answers(self, size: int) -> dict[str, Any]:
        """Returns the ids that the first questions find."""
        found = [list(self._peer.search(question).ids) for question in self._questions[:size]]
        return {"ids": found, "hybrid": self._peer.hybrid}

    def held(self) -> dict[str, Any]:
        """Returns what the process holds since before it opened the peer."""
        return {"held_bytes": resident_bytes() - self._resident_before}

    def close(self) -> dict[str, Any]:
        """Closes the peer."""
        self._peer.close()
        return {}


def main() -> None:
    """Serves until `close`."""
    # Peers may print what they like, but not into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = PeerServer(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    for line in sys.stdin:
        command, *arguments = orjson.loads(line)
        answers.write(orjson.dumps(getattr(server, command)(*arguments)) + b"\n")
        answers.flush()
        if command == "close":
            return


if __name__ == "__main__":
    main()
