"""Gateways and embedders behind one name each share the work, lose no call, and find newcomers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import grpc
import pytest

from justesse.client.channels import channel_options
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from tests.fakes.name_server import NameServer, name_server
from tests.mesh.caller import Caller, outcomes
from tests.mesh.conftest import DOCUMENTS, WORKSPACE
from tests.mesh.processes import Mesh, MeshProcess, free_ports, running_mesh

pytestmark = pytest.mark.mesh

FIRST, SECOND, THIRD = "127.0.0.1", "127.0.0.2", "127.0.0.3"
CONNECTION_AGE_S = "1"
CALLERS = 8
MOST_CALLS = 50_000
_NUMBERS = itertools.count()


@dataclass
class Several:
    """Two gateways and two embedders, the names that lead to them, and a caller of the gateways."""

    mesh: Mesh
    gateways: NameServer
    embedders: NameServer
    second_gateway: MeshProcess
    second_embedder: MeshProcess
    searches: search_pb2_grpc.SearchServiceStub

    def search(self) -> search_pb2.SearchPassagesResponse:
        """Asks what nobody has asked before, so that it is embedded."""
        query = f"surestaries au terminal {next(_NUMBERS)}"
        request = search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=query)
        return self.searches.SearchPassages(request, timeout=30)

    def search_until(self, met: Callable[[], bool]) -> None:
        """Searches until something is so; every search must be answered."""
        for _ in range(MOST_CALLS):
            assert self.search().hits
            if met():
                return
        raise AssertionError(f"not met after {MOST_CALLS} searches")


def calls_of(process: MeshProcess, method: str) -> int:
    """Returns how many calls of a method a process has logged."""
    return process.log_file.read_text().count(f'"{method}"')


def serving(process: MeshProcess, method: str) -> Callable[[], bool]:
    """Returns what says whether a process has served another call of a method since now."""
    before = calls_of(process, method)
    return lambda: calls_of(process, method) > before


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    """A mesh whose gateways and embedders have two addresses each."""
    with ExitStack() as stack:
        gateways = stack.enter_context(name_server(FIRST))
        embedders = stack.enter_context(name_server(FIRST))
        (embedder_port,) = free_ports(1)
        settings = {
            "JUSTESSE_EMBEDDER_PORT": str(embedder_port),
            "JUSTESSE_GATEWAY_EMBEDDER_TARGET": embedders.target(embedder_port),
            "JUSTESSE_EMBEDDER_MAX_CONNECTION_AGE_S": CONNECTION_AGE_S,
            "JUSTESSE_GATEWAY_MAX_CONNECTION_AGE_S": CONNECTION_AGE_S,
        }
        mesh = stack.enter_context(running_mesh(tmp_path_factory.mktemp("several"), **settings))
        with Caller(mesh.gateway_address) as caller:
            caller.create_workspace(WORKSPACE)
            for name, text in DOCUMENTS.items():
                caller.ingest(WORKSPACE, name, text.encode())
        seconds = [mesh.twin(name, SECOND) for name in ("gateway", "embedder")]
        for process in seconds:
            stack.callback(process.kill)
            process.start()
        for process in seconds:
            process.wait_ready()
        gateways.addresses.append(SECOND)
        embedders.addresses.append(SECOND)
        target = gateways.target(mesh.processes["gateway"].port)
        channel = stack.enter_context(grpc.insecure_channel(target, options=channel_options()))
        stub = search_pb2_grpc.SearchServiceStub(channel)
        yield Several(mesh, gateways, embedders, seconds[0], seconds[1], stub)


def test_calls_are_spread_over_all(several: Several) -> None:
    """Both gateways search, and both embedders embed for them."""
    served = [
        serving(several.mesh.processes["gateway"], "SearchPassages"),
        serving(several.second_gateway, "SearchPassages"),
        serving(several.mesh.processes["embedder"], "EmbedTexts"),
        serving(several.second_embedder, "EmbedTexts"),
    ]
    several.search_until(lambda: all(each() for each in served))


def test_a_killed_one_costs_no_search(several: Several) -> None:
    """A gateway's calls in flight are made again by the client's policy; an embedder's are not, so
    at most the searches in flight do without its vectors."""
    for process in (several.second_gateway, several.second_embedder):
        method = "SearchPassages" if process.name == "gateway" else "EmbedTexts"
        several.search_until(serving(process, method))
        with ThreadPoolExecutor(CALLERS) as callers:
            running = [callers.submit(several.search) for _ in range(CALLERS)]
            process.kill()
            running += [callers.submit(several.search) for _ in range(10 * CALLERS)]
            answers = [each.result() for each in running]
        process.start()
        process.wait_ready()

        assert all(answer.hits for answer in answers)
        lost = [outcomes(answer)["embed"] for answer in answers].count("DEGRADED")
        assert lost <= CALLERS


def test_a_newcomer_is_found_by_its_name(several: Several) -> None:
    """Once connections have come of age, without anything being restarted."""
    third = several.mesh.twin("embedder", THIRD)
    third.start()
    try:
        third.wait_ready()
        several.embedders.addresses.append(THIRD)
        several.search_until(lambda: calls_of(third, "EmbedTexts") > 0)
    finally:
        third.kill()
