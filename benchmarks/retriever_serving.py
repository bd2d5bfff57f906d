"""What serving costs beside the search: asynchronous and synchronous servers of the retriever.

Each server has a process and a copy of the data folder of its own; rounds are interleaved. One
asynchronous client calls with 1, 8 and 32 calls in flight. Hits are 20 with texts, of vectors and
BM25. The core is the search as the service's own report times it; an echo hop is a call of the
same client to a bare asynchronous server that returns 1,500 bytes.
"""

import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import grpc.aio
import uvloop

from benchmarks.echo_server import METHOD
from benchmarks.machine import processor_s
from benchmarks.retriever_corpus import SPACE, texts, vectors
from benchmarks.retriever_folder import WORKSPACE, filled_folder
from benchmarks.retriever_server import KINDS
from justesse.retriever.v1 import search_pb2, search_pb2_grpc

IN_FLIGHT = (1, 8, 32)
ECHO = "echo"


@dataclass
class Samples:
    """What was measured of one server at one number of calls in flight."""

    latencies: list[float] = field(default_factory=list)
    """Milliseconds."""
    rates: list[float] = field(default_factory=list)
    """Calls a second, one value a round."""
    cpu_s: float = 0.0
    cores: list[float] = field(default_factory=list)
    """Milliseconds of the search itself."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its process, and how it is called once."""

    process_id: int
    call: Callable[[], Awaitable[float]]
    """Calls once; returns the milliseconds of the search itself, 0 where there is none."""


def measure(quick: bool) -> dict[str, float]:
    """Returns latencies, rates and processor times, and their ratios of the same run."""
    folder = filled_folder(5_000 if quick else 20_000).path
    with ExitStack() as stack:
        ports = {
            kind: stack.enter_context(
                _running("benchmarks.retriever_server", kind, _copied(folder, stack))
            )
            for kind in KINDS
        }
        ports[ECHO] = stack.enter_context(_running("benchmarks.echo_server"))
        return uvloop.run(_measured(ports, rounds=3 if quick else 12))


def _copied(folder: Path, stack: ExitStack) -> str:
    copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "data"
    return str(shutil.copytree(folder, copy))


async def _measured(ports: dict[str, tuple[int, str]], rounds: int) -> dict[str, float]:
    queries = cycle(_requests(200))
    samples = {(name, count): Samples() for name in ports for count in IN_FLIGHT}
    async with _Channels(ports) as channels:
        servers = {
            name: Server(process_id, _call(name, channels.opened[name], queries))
            for name, (process_id, _) in ports.items()
        }
        for round_number in range(rounds + 1):
            for count in IN_FLIGHT:
                for name, server in servers.items():
                    kept = samples[name, count] if round_number else Samples()
                    await _load(server, count, kept)
    return _figures(samples)


async def _load(server: Server, in_flight: int, samples: Samples, seconds: float = 0.5) -> None:
    cpu_s, started = processor_s(server.process_id), time.perf_counter()
    before = len(samples.latencies)

    async def caller() -> None:
        while (begun := time.perf_counter()) - started < seconds:
            samples.cores.append(await server.call())
            samples.latencies.append((time.perf_counter() - begun) * 1e3)

    await asyncio.gather(*(caller() for _ in range(in_flight)))
    samples.rates.append((len(samples.latencies) - before) / (time.perf_counter() - started))
    samples.cpu_s += processor_s(server.process_id) - cpu_s


def _call(
    name: str,
    channel: grpc.aio.Channel,
    queries: Iterator[search_pb2.SearchPassagesRequest],
) -> Callable[[], Awaitable[float]]:
    echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHOD)
    stub = search_pb2_grpc.SearchServiceStub(channel)

    async def echoed() -> float:
        await echo(b"x" * 1500)
        return 0.0

    async def searched() -> float:
        response = await stub.SearchPassages(next(queries))
        return response.report.latency_ms

    return echoed if name == ECHO else searched


def _figures(samples: dict[tuple[str, int], Samples]) -> dict[str, float]:
    core_ms = statistics.median(samples["service", 1].cores)
    hop_ms = statistics.median(samples[ECHO, 1].latencies)
    service_ms = statistics.median(samples["service", 1].latencies)
    figures = {
        "core, ms": core_ms,
        "echo hop, ms": hop_ms,
        "service, p50 at 1 in flight, ms": service_ms,
        "service over the core, echo hops": (service_ms - core_ms) / hop_ms,
    }
    for (name, count), measured in samples.items():
        figures[f"{name}, {count} in flight, p50 ms"] = statistics.median(measured.latencies)
        figures[f"{name}, {count} in flight, calls/s"] = statistics.median(measured.rates)
        calls = len(measured.latencies)
        figures[f"{name}, {count} in flight, server CPU ms/call"] = measured.cpu_s * 1e3 / calls
    for count in IN_FLIGHT:
        for what in ("calls/s", "server CPU ms/call"):
            threads = figures[f"threads, {count} in flight, {what}"]
            bare = figures[f"bare, {count} in flight, {what}"]
            figures[f"threads / bare, {count} in flight, {what}"] = threads / bare
    return figures


def _requests(count: int) -> Sequence[search_pb2.SearchPassagesRequest]:
    return [
        search_pb2.SearchPassagesRequest(
            workspace=WORKSPACE,
            variants=[
                search_pb2.QueryVariant(
                    text=" ".join(text.split()[:5]),
                    vectors=[search_pb2.QueryVector(space_id=SPACE, vector=row.tobytes())],
                )
            ],
            limit=20,
        )
        for text, row in zip(texts(count), vectors(count, seed=7), strict=True)
    ]


class _Channels:
    """Channels to all servers, open while inside."""

    def __init__(self, ports: dict[str, tuple[int, str]]) -> None:
        self._ports = ports
        self.opened: dict[str, grpc.aio.Channel] = {}

    async def __aenter__(self) -> "_Channels":
        for name, (_, port) in self._ports.items():
            self.opened[name] = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        return self

    async def __aexit__(self, *_: object) -> None:
        for channel in self.opened.values():
            await channel.close()


@contextmanager
def _running(module: str, *arguments: str) -> Iterator[tuple[int, str]]:
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.pid, server.stdout.readline().strip()
        finally:
            server.terminate()
