"""Ten times as many new questions as the whole mesh can answer, at the default limits.

Every question is new, so that the built-in model embeds it: that is what bounds a mesh on one
machine. The peak is that of as many callers as searches are worked on, who wait for their answers.
The sender shares the machine.
"""

import asyncio
import random
import tempfile
from pathlib import Path
from urllib.request import urlopen

import grpc.aio
import uvloop

from benchmarks.flood import Flood
from benchmarks.gateway_hops import SEARCH
from benchmarks.interleaving import Figures
from benchmarks.mesh_hops import WORDS, WORKSPACE
from gateway.settings import GatewaySettings
from justesse.cli.addresses import MeshAddresses
from justesse.cli.local_mesh.session import MeshPlan, run_mesh
from justesse.client import Justesse
from justesse.gateway.v1 import search_pb2

DOCUMENTS = 40


def measure(quick: bool) -> Figures:
    """Returns what is left of the peak, of latencies and of memory under ten times the peak."""
    with tempfile.TemporaryDirectory() as folder:
        plan = MeshPlan(
            data_folder=Path(folder),
            log_folder=Path(folder) / "logs",
            address_file=Path(folder) / "address.json",
            environment={
                "JUSTESSE_EMBEDDER_PROVIDERS": "embedded",
                # Windows follow an upload in the background, which would be measured as well.
                "JUSTESSE_INGESTION_WINDOWS": "off",
            },
            free_ports=True,
        )

        async def work(addresses: MeshAddresses) -> Figures:
            return await asyncio.to_thread(_measure_running, addresses, 3.0 if quick else 15.0)

        return run_mesh(plan, work, lambda _event: None, lambda: None)


def _measure_running(addresses: MeshAddresses, seconds: float) -> Figures:
    words = random.Random(20240117)
    with Justesse(addresses.address) as mesh:
        mesh.create_workspace(WORKSPACE)
        for number in range(DOCUMENTS):
            sentence = " ".join(words.choices(WORDS, k=30)).capitalize()
            mesh.ingest(WORKSPACE, f"# {number}\n\n{sentence}.".encode(), file_name=f"{number}.md")
    return uvloop.run(_flooded(addresses, words, seconds))


async def _flooded(addresses: MeshAddresses, words: random.Random, seconds: float) -> Figures:
    def request() -> bytes:
        query = " ".join(words.choices(WORDS, k=6))
        return search_pb2.SearchPassagesRequest(
            workspace=WORKSPACE, query=query
        ).SerializeToString()

    at_work = GatewaySettings.model_fields["queries_at_work"].default
    async with grpc.aio.insecure_channel(addresses.address) as channel:
        return await Flood(
            channel.unary_unary(SEARCH),
            request,
            lambda: sum(_resident_bytes(each["metrics"]) for each in addresses.services.values()),
            (at_work,),
            seconds,
        ).measured()


def _resident_bytes(metrics_url: str) -> float:
    with urlopen(metrics_url) as answer:
        lines = answer.read().decode().splitlines()
    name = "process_resident_memory_bytes "
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))
