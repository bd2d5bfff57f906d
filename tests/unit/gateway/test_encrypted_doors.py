"""Both doors behind one certificate, which is exchanged while callers come."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
import httpx
import pytest

from chassis.binding import StartError
from chassis.certificates import LOOKED_AT_EVERY_S, WatchedCertificates
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from gateway.edge import edge_certificates
from gateway.http.app import http_door
from gateway.http.server import running_http
from gateway.servicer.served import served_services
from gateway.settings import GatewaySettings
from justesse.client import AsyncJustesse, Justesse, UnavailableError
from tests.fakes.certificate_authority import CertificateAuthority
from tests.fakes.clock import FakeClock
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes


@dataclass
class EncryptedDoors:
    """Addresses of both doors, the authority of their certificate, and the clock it is read by."""

    grpc_address: str
    http_address: str
    authority: CertificateAuthority
    clock: FakeClock

    def exchange(self) -> None:
        """Writes another certificate, which the doors look at next."""
        self.authority.issue("gateway", mutual=False)
        self.clock.now += LOOKED_AT_EVERY_S

    def context(self) -> ssl.SSLContext:
        """Believes the authority alone."""
        return ssl.create_default_context(cafile=str(self.authority.file))

    async def shown(self) -> bytes:
        """Returns the certificate that the HTTP door shows to a new caller."""
        host, _, port = self.http_address.rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port), ssl=self.context())
        connection: ssl.SSLObject = writer.get_extra_info("ssl_object")
        certificate = connection.getpeercert(binary_form=True)
        writer.close()
        assert certificate is not None
        return certificate


@pytest.fixture
async def doors(mesh: MeshOfFakes, tmp_path: Path) -> AsyncIterator[EncryptedDoors]:
    """Both doors of the gateway over fakes."""
    authority, clock = CertificateAuthority(tmp_path / "tls"), FakeClock()
    edge = WatchedCertificates(authority.issue("gateway", mutual=False), Metrics(), clock=clock)
    await mesh.key_ring.refresh()
    application, metrics = mesh.application(), Metrics()
    settings = ServerSettings(drain_grace_s=0.0, max_connection_age_s=0.2)
    async with (
        running_http(
            http_door(application, metrics),
            "127.0.0.1",
            0,
            insecure=False,
            grace_s=1.0,
            certificates=edge,
        ) as http_address,
        running_server(
            served_services(application), settings, metrics=metrics, certificates=edge
        ) as server,
    ):
        yield EncryptedDoors(server.address, http_address, authority, clock)


async def test_callers_are_served_over_https_and_encrypted_grpc(
    doors: EncryptedDoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By clients that are given the CAs, or find them in the environment; not in plain text."""
    async with httpx.AsyncClient(verify=doors.context()) as client:
        answer = await client.get(f"https://{doors.http_address}/livez")
    assert answer.status_code == 200
    assert answer.headers["Strict-Transport-Security"].startswith("max-age=")

    ca_file = str(doors.authority.file)
    async with AsyncJustesse(doors.grpc_address, tls_ca_file=ca_file) as justesse:
        assert len((await justesse.search("negoce", "conteneur")).hits) > 0
    monkeypatch.setenv("JUSTESSE_TLS_CA_FILE", ca_file)

    def search() -> int:
        with Justesse(f"https://{doors.grpc_address}") as justesse:
            return len(justesse.search("negoce", "conteneur").hits)

    assert await asyncio.to_thread(search) > 0
    monkeypatch.delenv("JUSTESSE_TLS_CA_FILE")
    for address in (doors.grpc_address, f"https://{doors.grpc_address}"):
        async with AsyncJustesse(address) as justesse:
            with pytest.raises(UnavailableError):
                await justesse.search("negoce", "conteneur")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_client_says_what_is_wrong_with_a_file_of_cas(
    tmp_path: Path, content: str | None
) -> None:
    """When it is made, before anything is dialled."""
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValueError, match=r"ca\.pem"):
        Justesse("127.0.0.1:1", tls_ca_file=str(file))


async def test_the_certificate_is_exchanged_under_load_without_a_failed_call(
    doors: EncryptedDoors, soak: bool
) -> None:
    """Again and again; every call goes through, on connections old and new, by both doors."""
    rotations = 50 if soak else 5
    counts = {"grpc": 0, "http": 0, "connections": 0}
    over = False

    async def by_grpc() -> None:
        async with AsyncJustesse(
            doors.grpc_address, tls_ca_file=str(doors.authority.file)
        ) as justesse:
            while not over:
                assert (await justesse.search("negoce", "q", timeout=60)).hits
                counts["grpc"] += 1

    async def by_http(*, anew: bool) -> None:
        limits = httpx.Limits(max_keepalive_connections=0 if anew else 1)
        async with httpx.AsyncClient(
            base_url=f"https://{doors.http_address}",
            verify=doors.context(),
            limits=limits,
            timeout=60,
        ) as client:
            while not over:
                body = {"workspace": "negoce", "query": "q"}
                assert (await client.post("/v1/search", json=body)).status_code == 200
                counts["connections" if anew else "http"] += 1

    certificates = {await doors.shown()}
    async with asyncio.TaskGroup() as group:
        for work in (by_grpc(), by_grpc(), by_http(anew=True), by_http(anew=False)):
            group.create_task(work)
        for _ in range(rotations):
            before = dict(counts)
            doors.exchange()
            certificates.add(await doors.shown())
            while any(counts[name] < before[name] + 10 for name in counts):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        over = True

    assert len(certificates) == rotations + 1


def test_half_of_a_certificate_stops_the_start(tmp_path: Path) -> None:
    """None is none; which half is missing is told by the variable's name."""
    files = CertificateAuthority(tmp_path).issue("gateway")
    assert edge_certificates(GatewaySettings(), Metrics()) is None

    for given, missing in (
        ({"tls_certificate_file": files.certificate}, "JUSTESSE_GATEWAY_TLS_KEY_FILE"),
        ({"tls_key_file": files.key}, "JUSTESSE_GATEWAY_TLS_CERTIFICATE_FILE"),
    ):
        with pytest.raises(StartError, match=missing):
            edge_certificates(GatewaySettings().model_copy(update=given), Metrics())


async def test_the_grpc_door_asks_callers_for_no_certificate(doors: EncryptedDoors) -> None:
    """They have keys."""
    credentials = grpc.ssl_channel_credentials(doors.authority.file.read_bytes())
    async with grpc.aio.secure_channel(doors.grpc_address, credentials) as channel:
        async with asyncio.timeout(30):
            await channel.channel_ready()
