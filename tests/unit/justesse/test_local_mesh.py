"""Ports, folders and environment of a mesh on this machine, and signals that end it."""

import asyncio
import os
import signal
import socket
from itertools import islice
from pathlib import Path

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from chassis.health import Health, HealthServicer
from justesse.cli.local_mesh.claim_secret import make_claim_secret
from justesse.cli.local_mesh.data_folder import FolderTakenError, claimed_folder
from justesse.cli.local_mesh.interruption import InterruptedWorkError, until_interrupted
from justesse.cli.local_mesh.ports import (
    PortsTakenError,
    free_layout,
    free_ports,
    is_free,
    usual_layout,
)
from justesse.cli.local_mesh.readiness import wait_until_ready
from justesse.cli.local_mesh.services import (
    EMBEDDER,
    GATEWAY,
    INGESTION,
    RETRIEVER,
    START_ORDER,
    STOP_ORDER,
    environment_of,
)


def test_every_service_is_started_and_stopped() -> None:
    """No service is forgotten in either order, and the gateway stops before all others."""
    assert len(set(START_ORDER)) == 6
    assert {service for group in STOP_ORDER for service in group} == set(START_ORDER)
    assert STOP_ORDER[0] == (GATEWAY,)


def test_free_layout_gives_each_port_once() -> None:
    """All ports are different and can be listened on; the gateway's can be chosen."""
    layout = free_layout(port=None, http_port=45_678)
    ports = [port for each in layout.values() for port in each.all()]
    assert len(ports) == len(set(ports)) == 19
    assert layout["gateway"].http == 45_678
    assert all(is_free(port) for port in ports)


def test_free_ports_are_no_ports_of_outgoing_connections() -> None:
    """The system never takes a chosen port for a connection before its service has started."""
    first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert max(islice(free_ports(), 200)) < max(first_outgoing, 32_768)


def usual_environment() -> dict[str, str]:
    """Ports that are free now, by environment variable."""
    numbers = free_ports()
    environment = {f"{service.prefix}PORT": str(next(numbers)) for service in START_ORDER}
    for service in START_ORDER:
        environment[f"{service.prefix}MANAGEMENT_PORT"] = str(next(numbers))
        environment[f"{service.prefix}METRICS_PORT"] = str(next(numbers))
    return {**environment, "JUSTESSE_GATEWAY_HTTP_PORT": str(next(numbers))}


def test_usual_layout_follows_the_environment() -> None:
    """A port in the environment counts; one on the command line counts more."""
    environment = usual_environment()
    chosen = next(free_ports())
    layout = usual_layout(environment, port=chosen, http_port=None)
    assert layout["retriever"].business == int(environment["JUSTESSE_RETRIEVER_PORT"])
    assert layout["retriever"].management == int(environment["JUSTESSE_RETRIEVER_MANAGEMENT_PORT"])
    assert layout["gateway"].business == chosen


def test_taken_port_is_named_before_anything_starts() -> None:
    """The message names port and service and offers a way out."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        environment = {**usual_environment(), "JUSTESSE_EMBEDDER_PORT": str(port)}
        with pytest.raises(PortsTakenError, match=rf"{port} \(embedder\); .*--free-ports"):
            usual_layout(environment, None, None)


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", ""])
def test_ill_formed_port_is_named(text: str) -> None:
    """A variable that is no port is refused with its name and value."""
    with pytest.raises(ValueError, match=f"JUSTESSE_RERANKER_PORT={text!r} is no port"):
        usual_layout({**usual_environment(), "JUSTESSE_RERANKER_PORT": text}, None, None)


_ROLES = (GATEWAY, INGESTION)


def test_environment_ties_the_mesh_together() -> None:
    """Every process is told its ports, its folder and where the others are; the rest is kept."""
    layout = free_layout(None, None)
    inherited = {"JUSTESSE_GATEWAY_LOG_LEVEL": "debug", "JUSTESSE_RETRIEVER_DATA_FOLDER": "other"}
    gateway = environment_of(GATEWAY, layout, Path("/data"), inherited)
    assert gateway["JUSTESSE_GATEWAY_PORT"] == str(layout["gateway"].business)
    assert gateway["JUSTESSE_GATEWAY_HTTP_PORT"] == str(layout["gateway"].http)
    assert gateway["JUSTESSE_GATEWAY_RERANKER_TARGET"] == layout["reranker"].address
    assert (
        gateway["JUSTESSE_GATEWAY_RERANKER_MANAGEMENT_TARGET"]
        == layout["reranker"].management_address
    )
    assert gateway["JUSTESSE_GATEWAY_DATABASE_URL"] == "sqlite+aiosqlite:////data/gateway.sqlite"
    assert gateway["JUSTESSE_GATEWAY_LOG_LEVEL"] == "debug"
    named = {**inherited, "JUSTESSE_GATEWAY_DATABASE_URL": "postgresql+psycopg://host/name"}
    assert environment_of(GATEWAY, layout, Path("/data"), named).items() >= named.items()
    ingestion = environment_of(INGESTION, layout, Path("/data"), inherited)
    assert ingestion["JUSTESSE_INGESTION_RETRIEVER_TARGET"] == layout["retriever"].address
    assert ingestion["JUSTESSE_INGESTION_DATA_FOLDER"] == "/data/originals"
    # The jobs lie where the switches lie.
    for environment in (inherited, named):
        both = [environment_of(one, layout, Path("/data"), environment) for one in _ROLES]
        gateway_url, ingestion_url = (
            told[f"{role.prefix}DATABASE_URL"] for role, told in zip(_ROLES, both, strict=True)
        )
        assert gateway_url == ingestion_url
    retriever = environment_of(RETRIEVER, layout, Path("/data"), inherited)
    assert retriever["JUSTESSE_RETRIEVER_DATA_FOLDER"] == "/data/retriever"
    # A restart neither forgets what a workspace has cost today nor pays for known texts again.
    embedder = environment_of(EMBEDDER, layout, Path("/data"), inherited)
    assert embedder["JUSTESSE_EMBEDDER_DATA_FOLDER"] == "/data/embedder"


def test_the_mesh_shares_a_secret_unless_told_one(tmp_path: Path) -> None:
    """Made once, for its owner alone; what the caller names for one process is left to them all."""
    layout = free_layout(None, None)
    make_claim_secret(tmp_path)
    secret = (tmp_path / "claim.secret").read_text()
    make_claim_secret(tmp_path)
    told = {
        service: environment_of(service, layout, tmp_path, {}).get(
            f"{service.prefix}CLAIM_SECRET_FILE"
        )
        for service in START_ORDER
    }

    assert (tmp_path / "claim.secret").read_text() == secret
    assert len(secret.strip()) == 64
    assert (tmp_path / "claim.secret").stat().st_mode & 0o777 == 0o600
    assert {service for service, file in told.items() if file} == {GATEWAY, INGESTION, RETRIEVER}
    assert {file for file in told.values() if file} == {str(tmp_path / "claim.secret")}
    own = {"JUSTESSE_RETRIEVER_CLAIM_SECRET_FILE": "/own"}
    assert "JUSTESSE_GATEWAY_CLAIM_SECRET_FILE" not in environment_of(
        GATEWAY, layout, tmp_path, own
    )


def test_folder_belongs_to_one_mesh_at_a_time(tmp_path: Path) -> None:
    """A second claim names the process that holds the first; afterwards the folder is free."""
    with claimed_folder(tmp_path / "data") as folder:
        assert folder.is_absolute()
        with (
            pytest.raises(FolderTakenError, match=rf"process {os.getpid()}"),
            claimed_folder(tmp_path / "data"),
        ):
            raise AssertionError("two meshes had the folder")
    with claimed_folder(tmp_path / "data"):
        pass


async def test_readiness_is_waited_for(unused_tcp_port: int) -> None:
    """Waiting begins before the process listens and ends when it says that it is ready."""
    waiting = asyncio.create_task(wait_until_ready(f"127.0.0.1:{unused_tcp_port}"))
    await asyncio.sleep(0.05)
    health = Health({"justesse.test.v1.Test": False})
    server = grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(HealthServicer(health), server)
    server.add_insecure_port(f"127.0.0.1:{unused_tcp_port}")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{unused_tcp_port}") as channel:
            check = channel.unary_unary(
                "/grpc.health.v1.Health/Check",
                request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
                response_deserializer=health_pb2.HealthCheckResponse.FromString,
            )
            request = health_pb2.HealthCheckRequest(service="readiness")
            answer = await check(request, wait_for_ready=True)
            assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert not waiting.done()
        health.set_serving("justesse.test.v1.Test", True)
        async with asyncio.timeout(20):
            await waiting
    finally:
        await server.stop(grace=None)


async def test_signal_ends_work_after_its_clean_up() -> None:
    """The first signal cancels, a second one during the clean-up is passed on."""
    heard: list[str] = []
    again = asyncio.Event()

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            await again.wait()
            heard.append("cleaned up")

    with pytest.raises(InterruptedWorkError):
        await until_interrupted(work(), lambda: heard.append("first"), again.set)
    assert heard == ["first", "cleaned up"]


async def test_work_that_is_not_interrupted_gives_its_result() -> None:
    """Without a signal nothing is different, and signals mean again what they meant before."""
    before = signal.getsignal(signal.SIGTERM)

    async def work() -> int:
        return 7

    assert await until_interrupted(work(), lambda: None, lambda: None) == 7
    assert signal.getsignal(signal.SIGTERM) == before
