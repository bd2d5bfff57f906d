"""What the mesh costs beside the search itself, in hops of a bare gRPC echo.

One caller, one call at a time, rounds interleaved. Processor times are those of all processes of
the mesh, as they count them themselves; neighbours disturb them least. The base holds about a
thousand passages with vectors of the deterministic encoder, so that embedding costs next to
nothing. The core is the search as the retriever's own report times it.

The hop that is called again and again never leaves the processor's caches; in a chain of processes
that take turns every hop does. So a chain of bare echoes stands beside the single one: one server
that calls two others, as the gateway calls the retriever and the reranker. Processor times are
taken in turns of a few calls, so that all are disturbed alike.
"""

import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import grpc

from benchmarks.echo_server import METHOD
from benchmarks.machine import processor_s
from justesse.cli.addresses import MeshAddresses
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.client import Justesse
from justesse.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from justesse.retriever.v1 import search_pb2, search_pb2_grpc

WORKSPACE = "bench"
DOCUMENTS = 500
CALLS_TIMED = 900
CALLS_A_TURN = 300
CHAIN_HOPS = 3
WORDS = [
    f"{start}{middle}{end}"
    for start in "bcdfglmnprst"
    for middle in ("ai", "o", "eu", "an")
    for end in ("te", "re", "lon", "que", "ment")
]


def measure(quick: bool) -> dict[str, float]:
    """Returns medians in milliseconds and as multiples of an echo hop of the same run."""
    with tempfile.TemporaryDirectory() as folder:
        plan = MeshPlan(
            data_folder=Path(folder),
            log_folder=Path(folder) / "logs",
            address_file=Path(folder) / "address.json",
            environment={
                "JUSTESSE_EMBEDDER_PROVIDERS": "deterministic",
                # Windows follow an upload in the background, which would be measured as well.
                "JUSTESSE_INGESTION_WINDOWS": "off",
            },
            free_ports=True,
        )

        async def work(addresses: MeshAddresses) -> dict[str, float]:
            return await asyncio.to_thread(_measure_running, addresses, 3 if quick else 15)

        return run_mesh(plan, work, lambda _event: None, lambda: None)


def _measure_running(addresses: MeshAddresses, rounds: int) -> dict[str, float]:
    random_words = random.Random(20240117)
    queries = iter(lambda: " ".join(random_words.choices(WORDS, k=5)), None)
    _fill(addresses.address, random_words)
    with (
        _echo_servers() as (echo_process_ids, (echo_port, _, chain_port)),
        grpc.insecure_channel(f"127.0.0.1:{echo_port}") as echo_channel,
        grpc.insecure_channel(f"127.0.0.1:{chain_port}") as chain_channel,
        grpc.insecure_channel(addresses.services["retriever"]["address"]) as retriever_channel,
        Justesse(addresses.address) as mesh,
    ):
        echo: grpc.UnaryUnaryMultiCallable[bytes, bytes] = echo_channel.unary_unary(METHOD)
        chain: grpc.UnaryUnaryMultiCallable[bytes, bytes] = chain_channel.unary_unary(METHOD)
        search = search_pb2_grpc.SearchServiceStub(retriever_channel).SearchPassages
        request = _retriever_request(addresses, next(queries))
        known = next(queries)
        cores: list[float] = []

        def search_core() -> None:
            cores.append(search(request).report.latency_ms)

        calls: dict[str, Callable[[], object]] = {
            "echo hop": lambda: echo(b"x" * 1500),
            "chain of echo hops": lambda: chain(b"x" * 1500),
            "retriever, one call": search_core,
            "whole search, query vector cached": lambda: mesh.search(WORKSPACE, known),
            "whole search, new query": lambda: mesh.search(WORKSPACE, next(queries)),
        }
        medians = _interleaved_medians(calls, rounds)
        echo_cpu_s = partial(processor_s, echo_process_ids[0])
        search_cpu_ms, chain_cpu_ms, echo_cpu_ms = _processor_ms(
            [
                (calls["whole search, query vector cached"], partial(_mesh_cpu_s, addresses)),
                (calls["chain of echo hops"], lambda: sum(map(processor_s, echo_process_ids))),
                (calls["echo hop"], echo_cpu_s),
            ]
        )
    hop, core = medians["echo hop"], statistics.median(cores)
    chain_hop = medians["chain of echo hops"] / CHAIN_HOPS
    cached = medians["whole search, query vector cached"]
    return (
        {"core, ms": core}
        | {f"{name}, ms": ms for name, ms in medians.items()}
        | {f"{name}, echo hops": ms / hop for name, ms in medians.items() if name != "echo hop"}
        | {
            "retriever, one call, over the core, echo hops": (
                (medians["retriever, one call"] - core) / hop
            ),
            "whole search, query vector cached, over the core, echo hops": (cached - core) / hop,
            "whole search, query vector cached, over the core, hops of the chain": (
                (cached - core) / chain_hop
            ),
            "whole search, query vector cached, CPU ms of all services": search_cpu_ms,
            "chain of echo hops, CPU ms of its servers": chain_cpu_ms,
            "echo hop, CPU ms of its server": echo_cpu_ms,
            "whole search, query vector cached, CPU in echo hops": search_cpu_ms / echo_cpu_ms,
            "whole search, query vector cached, CPU in chains of echo hops": (
                search_cpu_ms / chain_cpu_ms
            ),
            "whole search, query vector cached, CPU in cores": search_cpu_ms / core,
        }
    )


def _processor_ms(
    measured: Sequence[tuple[Callable[[], object], Callable[[], float]]],
) -> list[float]:
    """Returns the milliseconds a call of each kind takes of the processor, measured in turns."""
    seconds = [0.0] * len(measured)
    for _ in range(CALLS_TIMED // CALLS_A_TURN):
        for index, (call, processor_seconds) in enumerate(measured):
            before = processor_seconds()
            for _ in range(CALLS_A_TURN):
                call()
            seconds[index] += processor_seconds() - before
    return [spent / CALLS_TIMED * 1e3 for spent in seconds]


def _mesh_cpu_s(addresses: MeshAddresses) -> float:
    return sum(map(_service_cpu_s, addresses.services.values()))


def _service_cpu_s(service: Mapping[str, str]) -> float:
    with urlopen(service["metrics"]) as answer:
        lines = answer.read().decode().splitlines()
    name = "process_cpu_seconds_total "
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))


def _interleaved_medians(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for round_number in range(rounds + 1):
        for name, call in calls.items():
            for _ in range(40):
                started = time.perf_counter()
                call()
                if round_number > 0:  # the first round warms up
                    samples[name].append((time.perf_counter() - started) * 1e3)
    return {name: statistics.median(values) for name, values in samples.items()}


def _fill(address: str, random_words: random.Random) -> None:
    with Justesse(address) as mesh:
        mesh.create_workspace(WORKSPACE)
        for number in range(DOCUMENTS):
            sentences = (
                " ".join(random_words.choices(WORDS, k=12)).capitalize() + "." for _ in range(60)
            )
            text = f"# Document {number}\n\n" + " ".join(sentences)
            mesh.ingest(WORKSPACE, text.encode(), file_name=f"{number:04}.md")


def _retriever_request(addresses: MeshAddresses, query: str) -> search_pb2.SearchPassagesRequest:
    with grpc.insecure_channel(addresses.services["embedder"]["address"]) as channel:
        answer = embedder_pb2_grpc.EmbedderServiceStub(channel).EmbedTexts(
            embedder_pb2.EmbedTextsRequest(
                texts=[query], purpose=embedder_pb2.EMBEDDING_PURPOSE_QUERY
            )
        )
    vector = search_pb2.QueryVector(space_id=answer.space_id, vector=answer.vectors)
    variant = search_pb2.QueryVariant(text=query, vectors=[vector])
    return search_pb2.SearchPassagesRequest(workspace=WORKSPACE, variants=[variant])


@contextmanager
def _echo_servers() -> Iterator[tuple[list[int], list[str]]]:
    """Runs two echo servers and one that calls both; yields process ids and ports."""
    process_ids: list[int] = []
    ports: list[str] = []
    with ExitStack() as stack:
        for inner_ports in ([], [], ports):
            command = [sys.executable, "-m", "benchmarks.echo_server", *inner_ports]
            server = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(server.terminate)
            assert server.stdout is not None
            process_ids.append(server.pid)
            ports.append(server.stdout.readline().strip())
        yield process_ids, ports
