"""A chat server of OpenAI's kind as a process of its own, to be killed: prints its port first."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ADDED = "procédure"


class Handler(BaseHTTPRequestHandler):
    """Adds one word to each query that it is asked to reword, and turns passages round.

    It lists no models.
    """

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers a check."""
        self._answer({"data": []})

    def do_POST(self) -> None:
        """Rewords, or sorts."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": answer_to(body["messages"][-1]["content"])}
        usage = {"prompt_tokens": 300, "completion_tokens": 12}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._answer({"choices": [choice], "usage": usage})

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps quiet."""

    def _answer(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answer_to(prompt: str) -> str:
    """Returns the query reworded, or the numbers of the passages from the last to the first."""
    if prompt.startswith("Question: "):
        numbers = re.findall(r"^(\d+) \{", prompt, re.MULTILINE)
        return ",".join(reversed(numbers))
    query = prompt.rpartition("Query: ")[2]
    return f"{query} {ADDED}"


@dataclass(frozen=True, slots=True)
class ChatServer:
    """A running chat server."""

    process: subprocess.Popen[str]
    base_url: str

    def kill(self) -> None:
        """Ends it without a word."""
        self.process.kill()
        self.process.wait(30)


@contextlib.contextmanager
def running_chat_server() -> Iterator[ChatServer]:
    """Runs one for the time of a `with` block, unless it is killed before."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mesh.chat_server"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        server = ChatServer(process, f"http://127.0.0.1:{port}/v1")
        try:
            yield server
        finally:
            server.kill()


def main() -> None:
    """Serves until it is killed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
