"""Healthy, slow, hung or dead: whatever state each service is in, a search ends as promised."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random

import grpc
import pytest

from gateway.stage_times import HEALED_AFTER
from justesse.gateway.v1 import search_pb2
from tests.mesh.caller import Caller, outcomes
from tests.mesh.conftest import WORKSPACE
from tests.mesh.processes import Mesh, MeshProcess

pytestmark = pytest.mark.mesh

STATES = ("healthy", "slow", "hung", "dead")
STAGES = {"rewriter": "rewrite", "embedder": "embed", "reranker": "rerank"}
DEADLINE_S = 4.0
ATTEMPTS = 100
REDUCED_COUNT = 6


@contextmanager
def hung(process: MeshProcess) -> Iterator[None]:
    """Stops a process where it is: its connections stay open, and nothing answers."""
    process.running().send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.running().send_signal(signal.SIGCONT)


@contextmanager
def slow(process: MeshProcess) -> Iterator[None]:
    """Lets a process run for 20 of every 120 milliseconds."""
    over = threading.Event()

    def hold_up() -> None:
        while not over.is_set():
            process.running().send_signal(signal.SIGSTOP)
            over.wait(0.1)
            process.running().send_signal(signal.SIGCONT)
            over.wait(0.02)

    holding = threading.Thread(target=hold_up)
    holding.start()
    try:
        yield
    finally:
        over.set()
        holding.join()


@contextmanager
def dead(mesh: Mesh, name: str) -> Iterator[None]:
    """Kills a process, and starts it again afterwards."""
    mesh.processes[name].kill()
    try:
        yield
    finally:
        mesh.restart(name)


@contextmanager
def in_state(mesh: Mesh, states: dict[str, str]) -> Iterator[None]:
    """Brings services into their states, and the mesh back to health."""
    with ExitStack() as stack:
        for name, state in states.items():
            if state == "slow":
                stack.enter_context(slow(mesh.processes[name]))
            elif state == "hung":
                stack.enter_context(hung(mesh.processes[name]))
            elif state == "dead":
                stack.enter_context(dead(mesh, name))
        yield
    with Caller(mesh.gateway_address) as caller:
        caller.wait_until_whole(WORKSPACE)
        # Answers to a patient caller tell the gateway that the stages are fast again.
        for number in range(HEALED_AFTER):
            caller.search(WORKSPACE, f"guérison {'-'.join(states.values())} {number}")


def chosen(soak: bool) -> list[tuple[str, ...]]:
    """Returns all combinations, or six that hold every state of every service."""
    every = list(itertools.product(STATES, repeat=len(STAGES)))
    if soak:
        return every
    # A Latin square, which holds all pairs of a state and a service, and two more.
    square = [tuple(STATES[(row + shift) % 4] for shift in range(3)) for row in range(4)]
    return [*square, *Random(41).sample(every, REDUCED_COUNT - len(square))]


def test_optional_services_in_any_states_leave_an_answer(
    mesh: Mesh, caller: Caller, soak: bool
) -> None:
    """OK within the deadline, with hits; hung and dead stages are degraded in the receipt, healthy
    ones are not, and slow ones are what they managed."""
    for number, combination in enumerate(chosen(soak)):
        states = dict(zip(STAGES, combination, strict=True))
        with in_state(mesh, states):
            for attempt in range(ATTEMPTS):
                # A wording of its own each time: a cached query vector would hide the embedder.
                answer = caller.searches.SearchPassages(
                    search_pb2.SearchPassagesRequest(
                        workspace=WORKSPACE, query=f"surestaries au terminal {number} {attempt}"
                    ),
                    timeout=DEADLINE_S,
                )
                found = outcomes(answer)
                assert answer.hits[0].source.external_id == "surestaries.md", states
                for name, stage in STAGES.items():
                    if states[name] in {"hung", "dead"}:
                        assert found[stage] == "DEGRADED", (states, answer.receipt)
                # A machine under load may make a healthy stage late, so that it is left out until
                # the next call that finds out; it does not go on.
                healthy = [STAGES[name] for name, state in states.items() if state == "healthy"]
                if all(found[stage] != "DEGRADED" for stage in healthy):
                    break
                time.sleep(0.1)
            told = {each.stage: (each.reason, each.detail) for each in answer.receipt.stages}
            assert [told[stage] for stage in healthy if found[stage] == "DEGRADED"] == [], states


@pytest.mark.parametrize(
    ("state", "statuses"),
    [
        ("slow", {"OK"}),
        ("hung", {"DEADLINE_EXCEEDED", "UNAVAILABLE"}),
        ("dead", {"UNAVAILABLE"}),
    ],
)
def test_the_retriever_in_any_state_ends_as_said(
    mesh: Mesh, caller: Caller, state: str, statuses: set[str]
) -> None:
    """Slow it still answers; hung or dead, the caller is told by its deadline."""
    with in_state(mesh, {"retriever": state}):
        request = search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=f"retour {state}")
        try:
            caller.searches.SearchPassages(request, timeout=2 * DEADLINE_S)
            status = "OK"
        except grpc.RpcError as error:
            status = error.code().name

    assert status in statuses
