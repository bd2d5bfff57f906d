"""SIGTERM in the middle of twenty calls: each is answered, and the process ends as asked."""

from __future__ import annotations

import itertools
import signal
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from justesse.gateway.v1 import search_pb2
from tests.mesh.caller import Caller
from tests.mesh.conftest import WORKSPACE
from tests.mesh.processes import Mesh, MeshProcess

pytestmark = pytest.mark.mesh

PARALLEL = 20
ROUNDS = 20
SOAK_ROUNDS = 200
OPTIONAL = ("embedder", "rewriter", "reranker")
_NUMBERS = itertools.count()

Answers = list[Future[search_pb2.SearchPassagesResponse]]


def asked(caller: Caller) -> search_pb2.SearchPassagesResponse:
    """Asks what nobody has asked before, so that every stage is called."""
    request = search_pb2.SearchPassagesRequest(
        workspace=WORKSPACE, query=f"surestaries au terminal, appel {next(_NUMBERS)}"
    )
    return caller.searches.SearchPassages(request, timeout=60)


def calls_at_work(gateway: MeshProcess) -> int:
    """Returns how many searches hold a place in the gateway."""
    port = gateway.environment["JUSTESSE_GATEWAY_METRICS_PORT"]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    name = 'justesse_calls_at_work{kind="queries"} '
    return next(round(float(line.removeprefix(name))) for line in lines if line.startswith(name))


@contextmanager
def held(process: MeshProcess) -> Iterator[None]:
    """Stops a process where it is, so that calls to it wait."""
    process.running().send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.running().send_signal(signal.SIGCONT)


def searching(mesh: Mesh, caller: Caller, callers: ThreadPoolExecutor) -> Answers:
    """Returns twenty searches that are all under way: they wait for the held retriever."""
    answers = [callers.submit(asked, caller) for _ in range(PARALLEL)]
    while calls_at_work(mesh.processes["gateway"]) < PARALLEL:
        assert not any(answer.done() for answer in answers)
        time.sleep(0.02)
    return answers


def test_a_gateway_finishes_the_calls_it_has(mesh: Mesh, soak: bool) -> None:
    """All twenty are in the gateway when it is told to end: each gets its passages, and the exit
    code is 0."""
    gateway = mesh.processes["gateway"]
    for _ in range((SOAK_ROUNDS if soak else ROUNDS) // 2):
        with Caller(mesh.gateway_address) as caller, ThreadPoolExecutor(PARALLEL) as callers:
            caller.wait_until_whole(WORKSPACE)
            with held(mesh.processes["retriever"]):
                answers = searching(mesh, caller, callers)
                gateway.running().send_signal(signal.SIGTERM)
            assert all(answer.result().hits for answer in answers)
            assert gateway.running().wait(60) == 0
        mesh.restart("gateway")


def test_a_stage_that_ends_costs_no_search(mesh: Mesh, soak: bool) -> None:
    """Twenty searches are under way, and go on: each is answered, at worst without that stage."""
    rounds = (SOAK_ROUNDS if soak else ROUNDS) // 2
    for name, _ in zip(itertools.cycle(OPTIONAL), range(rounds), strict=False):
        process = mesh.processes[name]
        with Caller(mesh.gateway_address) as caller, ThreadPoolExecutor(PARALLEL) as callers:
            caller.wait_until_whole(WORKSPACE)
            answers = [callers.submit(asked, caller) for _ in range(PARALLEL)]
            process.running().send_signal(signal.SIGTERM)
            answers += [callers.submit(asked, caller) for _ in range(PARALLEL)]
            found = [answer.result() for answer in answers]
            assert process.running().wait(60) == 0
        mesh.restart(name)

        assert all(answer.hits for answer in found)


@pytest.mark.parametrize("name", ["retriever", "ingestion"])
def test_what_others_depend_on_ends_as_asked(mesh: Mesh, name: str) -> None:
    """With exit code 0; afterwards everything is as before."""
    assert mesh.processes[name].stop() == 0
    mesh.restart(name)
    with Caller(mesh.gateway_address) as caller:
        caller.wait_until_whole(WORKSPACE)
        assert asked(caller).hits
