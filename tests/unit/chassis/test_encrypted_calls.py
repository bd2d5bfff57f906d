"""Calls between services show certificates both ways, and go on while these are exchanged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from chassis.binding import StartError
from chassis.certificates import LOOKED_AT_EVERY_S, CertificateFiles, WatchedCertificates
from chassis.channel import open_channel
from chassis.interception import ServicerContext
from chassis.metrics import Metrics
from chassis.server import RunningServer, ServerSettings, running_server
from tests.fakes.certificate_authority import CertificateAuthority
from tests.fakes.clock import FakeClock
from tests.fakes.probe_service import UNARY, UNARY_STREAM, echo, probe

METHOD = f"/{UNARY}"


async def count(_request: bytes, context: ServicerContext) -> None:
    """Streams three messages."""
    for number in b"123":
        await context.write(bytes([number]))


@pytest.fixture
def authority(tmp_path: Path) -> CertificateAuthority:
    """An authority with a folder of its own."""
    return CertificateAuthority(tmp_path / "tls")


@asynccontextmanager
async def encrypted(
    files: CertificateFiles, clock: FakeClock, **settings: object
) -> AsyncIterator[RunningServer]:
    """Serves with the certificate of some files."""
    certificates = WatchedCertificates(files, Metrics(), clock=clock)
    terms = ServerSettings(drain_grace_s=0.0).model_copy(update=settings)
    service = probe({UNARY: echo, UNARY_STREAM: count})
    async with running_server(
        [service], terms, metrics=Metrics(), certificates=certificates
    ) as server:
        yield server


async def test_both_sides_show_certificates(authority: CertificateAuthority) -> None:
    """A named caller is served, all kinds of calls; another name, no name or no CA is not."""
    clock = FakeClock()
    strange = CertificateAuthority(authority.folder / "strange").issue("gateway")
    callers = {
        "gateway": authority.issue("gateway"),
        "rewriter": authority.issue("rewriter"),
        "strange": strange,
    }

    async def outcome(channel: Any) -> str:
        try:
            async with channel:
                answer = await channel.unary_unary(METHOD)(b"x", timeout=30)
                stream = channel.unary_stream(f"/{UNARY_STREAM}")(b"")
                return str(answer) + str([message async for message in stream])
        except grpc.aio.AioRpcError as error:
            return error.code().name

    async with encrypted(authority.issue("echo"), clock) as server:
        found = {
            name: await outcome(
                open_channel(
                    server.address,
                    metrics=Metrics(),
                    certificates=WatchedCertificates(files, Metrics()),
                )
            )
            for name, files in callers.items()
        }
        found["plain"] = await outcome(open_channel(server.address, metrics=Metrics()))

    assert found == {
        "gateway": "b'x'[b'1', b'2', b'3']",
        "rewriter": "PERMISSION_DENIED",
        "strange": "UNAVAILABLE",
        "plain": "UNAVAILABLE",
    }


async def test_an_address_for_other_machines_needs_certificates_of_callers(
    authority: CertificateAuthority,
) -> None:
    """A certificate of the server alone tells nobody who calls."""
    files = authority.issue("echo")
    one_sided = CertificateFiles("echo", files.certificate, files.key)
    with pytest.raises(StartError, match="refusing to listen"):
        async with encrypted(one_sided, FakeClock(), host="0.0.0.0"):
            pass
    async with encrypted(files, FakeClock(), host="0.0.0.0") as server:
        assert server.address


async def test_certificates_are_exchanged_under_load_without_a_failed_call(
    authority: CertificateAuthority, soak: bool
) -> None:
    """Server's and caller's, again and again, while calls go on; new connections show new ones."""
    clock = FakeClock()
    rotations, calls = (50, 0) if soak else (5, 0)
    caller = WatchedCertificates(authority.issue("gateway"), Metrics(), clock=clock)
    over = False

    async with (
        encrypted(authority.issue("echo"), clock, max_connection_age_s=0.2) as server,
        open_channel(server.address, metrics=Metrics(), certificates=caller) as channel,
    ):
        call: Any = channel.unary_unary(METHOD)

        async def load() -> None:
            nonlocal calls
            while not over:
                assert await call(b"x", timeout=60) == b"x"
                calls += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(load())
            for _ in range(rotations):
                before = calls
                authority.issue("echo")
                authority.issue("gateway")
                clock.now += LOOKED_AT_EVERY_S
                while calls < before + 100:  # noqa: ASYNC110 - eight tasks count them
                    await asyncio.sleep(0.01)
            over = True

    assert caller.current().chain == authority.files("gateway").certificate.read_bytes()
