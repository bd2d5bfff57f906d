"""What the mesh costs beside the search itself, in hops of bare gRPC.

One caller, one call at a time, rounds interleaved. Processor times are those of all processes of
the mesh, as they count them themselves; neighbours disturb them least. The base holds about a
thousand passages with vectors of the deterministic encoder, so that embedding costs next to
nothing. The core is the search as the retriever's own report times it, with the same query each
time or with a new one, like the search that it is held against. Callers use the generated stubs;
what the Python client makes of an answer stands beside that.

A hop is a third of a call through a chain of three bare asynchronous servers: one that calls two
others, as the gateway calls the retriever and the reranker. An echo that is called alone, again
and again, by a synchronous client is faster: it never leaves the processor's caches, which every
hop between processes that take turns does.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from urllib.request import urlopen

import grpc

from benchmarks.echo_server import METHOD
from benchmarks.interleaving import Figures, spread
from benchmarks.server_process import echo_chain, processor_s_of
from chassis.signed_claims import METADATA_KEY, SignedClaims
from justesse.cli.addresses import MeshAddresses
from justesse.cli.local_mesh.claim_secret import claim_secret_file
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.client import Justesse
from justesse.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from justesse.gateway.v1 import search_pb2 as gateway_pb2
from justesse.gateway.v1 import search_pb2_grpc as gateway_pb2_grpc
from justesse.retriever.v1 import search_pb2, search_pb2_grpc

WORKSPACE = "bench"
DOCUMENTS = 500
CALLS_TIMED = 900
CALLS_A_TURN = 300
CHAIN_HOPS = 3
CALLS_A_ROUND = 40
TEXTS_A_REQUEST = 256
CORE = "core"
NEW_CORE = "core, new query"
ECHO = "echo hop called alone"
CHAIN = "chain of echo hops"
RETRIEVER = "retriever, one call"
NEW_RETRIEVER = "retriever, one call, new query"
CACHED = "whole search, query vector cached"
NEW = "whole search, new query"
CLIENT = "whole search by the Python client, query vector cached"
WORDS = [
    f"{start}{middle}{end}"
    for start in "bcdfglmnprst"
    for middle in ("ai", "o", "eu", "an")
    for end in ("te", "re", "lon", "que", "ment")
]


def measure(quick: bool) -> Figures:
    """Returns medians in milliseconds and in hops of the same run."""
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

        async def work(addresses: MeshAddresses) -> Figures:
            return await asyncio.to_thread(_measure_running, addresses, 3 if quick else 15)

        return run_mesh(plan, work, lambda _event: None, lambda: None)


def _measure_running(addresses: MeshAddresses, rounds: int) -> Figures:
    random_words = random.Random(20240117)
    queries = iter(lambda: " ".join(random_words.choices(WORDS, k=5)), None)
    _fill(addresses.address, random_words)
    with (
        echo_chain(CHAIN_HOPS) as chain_servers,
        grpc.insecure_channel(chain_servers[1].address) as echo_channel,
        grpc.insecure_channel(chain_servers[0].address) as chain_channel,
        grpc.insecure_channel(addresses.services["retriever"]["address"]) as retriever_channel,
        grpc.insecure_channel(addresses.address) as gateway_channel,
        Justesse(addresses.address) as mesh,
    ):
        echo: grpc.UnaryUnaryMultiCallable[bytes, bytes] = echo_channel.unary_unary(METHOD)
        chain: grpc.UnaryUnaryMultiCallable[bytes, bytes] = chain_channel.unary_unary(METHOD)
        search = gateway_pb2_grpc.SearchServiceStub(gateway_channel).SearchPassages
        retrieve = search_pb2_grpc.SearchServiceStub(retriever_channel).SearchPassages
        known = next(queries)
        (request,) = _retriever_requests(addresses, [known])
        new_queries = list(islice(queries, CALLS_A_ROUND * (rounds + 1)))
        other = iter(_retriever_requests(addresses, new_queries))
        claims = SignedClaims(claim_secret_file(Path(addresses.data_folder)))
        cores: dict[str, list[float]] = {CORE: [], NEW_CORE: []}

        def retrieved(kind: str, request: search_pb2.SearchPassagesRequest) -> None:
            claim = (METADATA_KEY, claims.sign(WORKSPACE, "read"))
            cores[kind].append(retrieve(request, metadata=(claim,)).report.latency_ms)

        def searched(query: str) -> None:
            search(gateway_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=query))

        calls: dict[str, Callable[[], object]] = {
            ECHO: lambda: echo(b"x" * 1500),
            CHAIN: lambda: chain(b"x" * 1500),
            RETRIEVER: lambda: retrieved(CORE, request),
            NEW_RETRIEVER: lambda: retrieved(NEW_CORE, next(other)),
            CACHED: lambda: searched(known),
            NEW: lambda: searched(next(queries)),
            CLIENT: lambda: mesh.search(WORKSPACE, known),
        }
        medians = _round_medians(calls, cores, rounds)
        search_cpu_ms, chain_cpu_ms = _processor_ms(
            [
                (calls[CACHED], partial(_mesh_cpu_s, addresses)),
                (calls[CHAIN], partial(processor_s_of, chain_servers)),
            ]
        )
    core_ms = statistics.median(medians[CORE])
    return {
        **{f"{name}, ms": statistics.median(values) for name, values in medians.items()},
        "echo hop called alone / hop of a chain": (
            CHAIN_HOPS * statistics.median(medians[ECHO]) / statistics.median(medians[CHAIN])
        ),
        **_hops_over_core(RETRIEVER, CORE, medians),
        **_hops_over_core(CACHED, CORE, medians),
        **_hops_over_core(NEW, NEW_CORE, medians),
        f"{CACHED}, CPU ms of all services": search_cpu_ms,
        f"{CHAIN}, CPU ms of its servers": chain_cpu_ms,
        f"{CACHED}, CPU / chain": search_cpu_ms / chain_cpu_ms,
        f"{CACHED}, CPU / core": search_cpu_ms / core_ms,
    }


def _hops_over_core(name: str, core_name: str, medians: Mapping[str, Sequence[float]]) -> Figures:
    rounds = zip(medians[name], medians[core_name], medians[CHAIN], strict=True)
    return spread(
        f"{name}, over the core, hops",
        [CHAIN_HOPS * (call - core) / chain for call, core, chain in rounds],
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


def _round_medians(
    calls: dict[str, Callable[[], object]], cores: dict[str, list[float]], rounds: int
) -> Mapping[str, Sequence[float]]:
    """Returns the median milliseconds of each round, by call; `cores` is what calls report."""
    medians: dict[str, list[float]] = {name: [] for name in (*calls, *cores)}
    for round_number in range(rounds + 1):
        for reported in cores.values():
            reported.clear()
        for name, call in calls.items():
            samples = []
            for _ in range(CALLS_A_ROUND):
                started = time.perf_counter()
                call()
                samples.append((time.perf_counter() - started) * 1e3)
            if round_number > 0:  # the first round warms up
                medians[name].append(statistics.median(samples))
        if round_number > 0:
            for name, reported in cores.items():
                medians[name].append(statistics.median(reported))
    return medians


def _fill(address: str, random_words: random.Random) -> None:
    with Justesse(address) as mesh:
        mesh.create_workspace(WORKSPACE)
        for number in range(DOCUMENTS):
            sentences = (
                " ".join(random_words.choices(WORDS, k=12)).capitalize() + "." for _ in range(60)
            )
            text = f"# Document {number}\n\n" + " ".join(sentences)
            mesh.ingest(WORKSPACE, text.encode(), file_name=f"{number:04}.md")


def _retriever_requests(
    addresses: MeshAddresses, queries: Sequence[str]
) -> list[search_pb2.SearchPassagesRequest]:
    requests = []
    with grpc.insecure_channel(addresses.services["embedder"]["address"]) as channel:
        embed = embedder_pb2_grpc.EmbedderServiceStub(channel).EmbedTexts
        for first in range(0, len(queries), TEXTS_A_REQUEST):
            texts = queries[first : first + TEXTS_A_REQUEST]
            answer = embed(
                embedder_pb2.EmbedTextsRequest(
                    texts=texts, purpose=embedder_pb2.EMBEDDING_PURPOSE_QUERY
                )
            )
            row_bytes = 4 * answer.dimension
            for place, text in enumerate(texts):
                row = answer.vectors[place * row_bytes : (place + 1) * row_bytes]
                vector = search_pb2.QueryVector(space_id=answer.space_id, vector=row)
                variant = search_pb2.QueryVariant(text=text, vectors=[vector])
                requests.append(
                    search_pb2.SearchPassagesRequest(workspace=WORKSPACE, variants=[variant])
                )
    return requests
