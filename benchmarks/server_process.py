"""Servers of the benchmarks in processes of their own; the first line each prints is its port."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.machine import processor_s


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that listens on a port of this machine."""

    process_id: int
    port: str

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.port}"


@contextmanager
def running(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """Runs `python -m module` while inside. Raises RuntimeError where it ends at its start."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    ) as server:
        assert server.stdout is not None
        try:
            port = server.stdout.readline().strip()
            if not port:
                raise RuntimeError(f"{module} ended before it listened")
            yield ServerProcess(server.pid, port)
        finally:
            server.terminate()


@contextmanager
def echo_chain(hops: int) -> Iterator[Sequence[ServerProcess]]:
    """Runs a bare echo server that calls so many others, one hop less than `hops`, in turn.

    The first one is that which callers ask.
    """
    with ExitStack() as stack:
        inner = [stack.enter_context(running("benchmarks.echo_server")) for _ in range(hops - 1)]
        ports = [server.port for server in inner]
        front = stack.enter_context(running("benchmarks.echo_server", *ports))
        yield front, *inner


def processor_s_of(servers: Sequence[ServerProcess]) -> float:
    """Returns the processor time that all of them have taken, in seconds."""
    return sum(processor_s(server.process_id) for server in servers)
