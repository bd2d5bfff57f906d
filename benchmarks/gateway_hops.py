"""What the gateway costs: the real one before stages that cost nothing, against bare echoes.

The stages are bare gRPC servers that answer the same bytes to every request, so what is left is
the gateway's own work and the hops. A search with a known query vector makes three hops (gateway,
retriever, reranker), one with a new query four (the embedder as well). The echo chains have as
many: one bare server that calls the others in turn, 1,500 bytes each way. Callers send bytes and
leave the answers unread, so that they cost little themselves. Rounds are interleaved.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

import grpc
import grpc.aio
import uvloop

from benchmarks.canned_answers import WORKSPACE
from benchmarks.echo_server import METHOD
from benchmarks.interleaving import Figures, spread
from benchmarks.server_process import ServerProcess, echo_chain, processor_s_of, running
from justesse.gateway.v1 import search_pb2

SEARCH = "/justesse.gateway.v1.SearchService/SearchPassages"
STAGES = ("rewriter", "embedder", "retriever", "reranker")
LIMIT = 8
CACHED, NEW = "query vector cached", "new query"
HOPS = {CACHED: 3, NEW: 4}
CALLS = {1: 120, 8: 240, 32: 320}
"""Calls of a round, by the number of callers that share them."""

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class System:
    """What is called, and the processes that it consists of, the one in front first."""

    call: Call
    servers: Sequence[ServerProcess]
    rounds: dict[int, list["Round"]] = field(default_factory=lambda: {each: [] for each in CALLS})


@dataclass(frozen=True, slots=True)
class Round:
    """One round: seconds of the median call, calls a second, CPU seconds a call."""

    typical_s: float
    calls_per_second: float
    front_cpu_s: float
    all_cpu_s: float


def measure(quick: bool) -> Figures:
    """Returns the gateway's time, CPU time and calls a second as multiples of its echo chain's."""
    with ExitStack() as stack:
        chains = {kind: stack.enter_context(echo_chain(hops)) for kind, hops in HOPS.items()}
        gateway = stack.enter_context(gateway_before_canned_stages())
        return uvloop.run(_measured(chains, gateway, 2 if quick else 13))


@contextmanager
def gateway_before_canned_stages(
    *, retriever_s: float = 0.0, settings: Mapping[str, str] | None = None
) -> Iterator[Sequence[ServerProcess]]:
    """Runs the gateway, which comes first, and stages that answer canned bytes, while inside.

    The retriever waits `retriever_s` seconds before each answer; `settings` are the gateway's.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stages = {
            stage: stack.enter_context(
                running(
                    "benchmarks.canned_stage",
                    stage,
                    *([str(retriever_s)] if stage == "retriever" else []),
                )
            )
            for stage in STAGES
        }
        set_to = {
            "PORT": "0",
            "HTTP_PORT": "0",
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/gateway.sqlite",
            "DRAIN_PAUSE_S": "0",
            **{f"{stage.upper()}_TARGET": server.address for stage, server in stages.items()},
            **(settings or {}),
        }
        environment = {f"JUSTESSE_GATEWAY_{name}": value for name, value in set_to.items()}
        front = stack.enter_context(running("benchmarks.gateway_server", environment=environment))
        yield front, *stages.values()


async def _measured(
    chains: Mapping[str, Sequence[ServerProcess]], gateway: Sequence[ServerProcess], rounds: int
) -> Figures:
    channels = {
        server.address: grpc.aio.insecure_channel(server.address)
        for server in (gateway[0], *(chain[0] for chain in chains.values()))
    }
    search: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channels[
        gateway[0].address
    ].unary_unary(SEARCH)
    _check(search_pb2.SearchPassagesResponse.FromString(await search(_request("combien ?"))))
    random_numbers = random.Random(31)
    requests = {
        CACHED: cached_request,
        NEW: lambda: _request(f"quand part la commande {random_numbers.random()}"),
    }
    systems: dict[tuple[str, str], System] = {}
    for kind, chain in chains.items():
        echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channels[
            chain[0].address
        ].unary_unary(METHOD)
        systems["chain", kind] = System(partial(_echoed, echo), chain)
        systems["gateway", kind] = System(partial(_searched, search, requests[kind]), gateway)
    for number in range(rounds + 1):
        for callers, calls in CALLS.items():
            for system in systems.values():
                done = await _round(system, callers, calls)
                if number:  # the first round warms up
                    system.rounds[callers].append(done)
    await asyncio.gather(*(channel.close() for channel in channels.values()))
    figures: Figures = {}
    for kind, hops in HOPS.items():
        figures |= _figures(kind, hops, systems["chain", kind], systems["gateway", kind])
    return figures


async def _echoed(echo: "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]") -> None:
    await echo(b"x" * 1500)


async def _searched(
    search: "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]", request: Callable[[], bytes]
) -> None:
    await search(request())


def _check(response: search_pb2.SearchPassagesResponse) -> None:
    """Raises RuntimeError where a stage was lost: its hop would not be measured."""
    if response.receipt.degraded or len(response.hits) != LIMIT:
        raise RuntimeError(f"the gateway could not use a canned answer: {response.receipt}")


def cached_request() -> bytes:
    """Returns the request of a search whose query vector is known from the second one on."""
    return _request("combien de conteneurs sont en retard")


def _request(query: str) -> bytes:
    return search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=query).SerializeToString()


async def _round(system: System, callers: int, calls: int) -> Round:
    seconds: list[float] = []

    async def caller() -> None:
        for _ in range(calls // callers):
            begun = time.perf_counter()
            await system.call()
            seconds.append(time.perf_counter() - begun)

    front_cpu_s, all_cpu_s = processor_s_of(system.servers[:1]), processor_s_of(system.servers)
    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    took = time.perf_counter() - started
    return Round(
        statistics.median(seconds),
        len(seconds) / took,
        (processor_s_of(system.servers[:1]) - front_cpu_s) / len(seconds),
        (processor_s_of(system.servers) - all_cpu_s) / len(seconds),
    )


def _figures(kind: str, hops: int, chain: System, gateway: System) -> Figures:
    pairs = {
        callers: list(zip(gateway.rounds[callers], chain.rounds[callers], strict=True))
        for callers in CALLS
    }
    figures: Figures = {
        f"{kind}: chain of {hops} hops, ms": 1e3
        * statistics.median(echoed.typical_s for _, echoed in pairs[1]),
        f"{kind}: gateway, ms": 1e3
        * statistics.median(searched.typical_s for searched, _ in pairs[1]),
        **spread(
            f"{kind}: gateway beyond its chain, hops",
            [hops * (ours.typical_s / echoed.typical_s - 1) for ours, echoed in pairs[1]],
        ),
    }
    for callers, rounds in pairs.items():
        figures[f"{kind}: gateway, {callers} callers, searches/s"] = statistics.median(
            ours.calls_per_second for ours, _ in rounds
        )
        figures |= spread(
            f"{kind}: {callers} callers, calls/s / chain",
            [ours.calls_per_second / echoed.calls_per_second for ours, echoed in rounds],
        )
    ours, echoed = gateway.rounds[1], chain.rounds[1]
    front_ms = 1e3 * statistics.mean(each.front_cpu_s for each in ours)
    echo_ms = 1e3 * statistics.mean(each.front_cpu_s for each in echoed)
    return figures | {
        f"{kind}: gateway process, CPU ms a search": front_ms,
        f"{kind}: front of the chain, CPU ms a call": echo_ms,
        f"{kind}: gateway process, CPU / front of the chain": front_ms / echo_ms,
        f"{kind}: all processes, CPU / chain": statistics.mean(each.all_cpu_s for each in ours)
        / statistics.mean(each.all_cpu_s for each in echoed),
    }
