"""A real gateway that asks for keys, and callers without one who bring a lot."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from gateway.access.api_key import new_api_key
from justesse.gateway.v1 import ingestion_pb2, ingestion_pb2_grpc
from tests.mesh.processes import MeshProcess, free_ports

BODY_BYTES = 100 * 2**20
CHUNK = b"x" * 2**16
ALLOWED_GROWTH_BYTES = 32 * 2**20


class Gateway(MeshProcess):
    """A gateway with a key, and with nobody behind it."""

    http_port: int

    def peak_bytes(self) -> int:
        """Returns the most memory that the process ever held."""
        status = Path(f"/proc/{self.running().pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024

    def send(self, head: bytes, pieces: Iterator[bytes]) -> tuple[str, int]:
        """Sends a request until it is answered; returns the answer and the bytes that went out."""
        sent = 0
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=60) as connection:
            connection.sendall(head)
            try:
                for piece in pieces:
                    connection.sendall(piece)
                    sent += len(piece)
            except OSError:
                # The gateway has answered and closed the connection.
                pass
            try:
                answer = connection.recv(2**16)
            except ConnectionResetError:
                answer = b""
        return answer.decode(), sent


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    """A running one."""
    port, management, metrics, http = free_ports(4)
    key_file = tmp_path / "key"
    key_file.write_text(new_api_key().text)
    inherited = {name: value for name, value in os.environ.items() if "JUSTESSE_" not in name}
    process = Gateway(
        "gateway",
        inherited
        | {
            "JUSTESSE_GATEWAY_PORT": str(port),
            "JUSTESSE_GATEWAY_MANAGEMENT_PORT": str(management),
            "JUSTESSE_GATEWAY_METRICS_PORT": str(metrics),
            "JUSTESSE_GATEWAY_HTTP_PORT": str(http),
            "JUSTESSE_GATEWAY_DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path}/gateway.sqlite",
            "JUSTESSE_GATEWAY_BOOTSTRAP_KEY_FILE": str(key_file),
        },
        tmp_path / "gateway.log",
        port,
        management,
    )
    process.http_port = http
    process.start()
    process.wait_ready()
    yield process
    process.kill()


def pieces(*, chunked: bool) -> Iterator[bytes]:
    """Yields a body of 100 MB."""
    for _ in range(BODY_BYTES // len(CHUNK)):
        yield b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK) if chunked else CHUNK


def test_a_large_body_without_a_key_is_refused_and_not_kept(gateway: Gateway) -> None:
    """Announced, in pieces, and as a stream of gRPC: hardly any of it is read, none is kept."""
    head = b"POST /v1/documents HTTP/1.1\r\nHost: gateway\r\nContent-Type: multipart/form-data\r\n"
    before = gateway.peak_bytes()

    for chunked, line in (
        (False, b"Content-Length: %d\r\n\r\n" % BODY_BYTES),
        (True, b"Transfer-Encoding: chunked\r\n\r\n"),
    ):
        for _ in range(3):
            answer, sent = gateway.send(head + line, pieces(chunked=chunked))
            assert sent < BODY_BYTES / 4
            # A caller that is still sending may lose the answer to the closed connection.
            assert answer == "" or answer.startswith("HTTP/1.1 401")

    def messages() -> Iterator[ingestion_pb2.IngestDocumentRequest]:
        nonlocal sent
        for piece in pieces(chunked=False):
            sent += len(piece)
            yield ingestion_pb2.IngestDocumentRequest(content=piece)

    sent = 0
    with grpc.insecure_channel(f"127.0.0.1:{gateway.port}") as channel:
        stub = ingestion_pb2_grpc.IngestionServiceStub(channel)
        with pytest.raises(grpc.RpcError) as refused:
            stub.IngestDocument(messages(), timeout=60)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert sent < BODY_BYTES / 4
    assert gateway.peak_bytes() - before < ALLOWED_GROWTH_BYTES
