"""Serves the HTTP door on the event loop of the process, beside gRPC."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog
import uvicorn
from starlette.types import ASGIApp

from chassis.binding import cannot_listen, joined, require_trusted_host
from chassis.certificates import WatchedCertificates
from chassis.tls_server import http_context
from gateway.http.bounded_heads import BoundedHeads

_log = structlog.get_logger("gateway.http")


class _Server(uvicorn.Server):
    """Leaves signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def running_http(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    insecure: bool,
    grace_s: float = 20.0,
    certificates: WatchedCertificates | None = None,
) -> AsyncIterator[str]:
    """Serves while inside and yields the address; requests in flight have `grace_s` to end.

    Port 0 takes a free one; with `certificates` it is HTTPS. Raises StartError if the address may
    not or cannot be listened on.
    """
    require_trusted_host(host, insecure=insecure)
    listener = _listener(host, port)
    address = joined(host, listener.getsockname()[1])
    config = uvicorn.Config(
        app,
        http=BoundedHeads,
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(grace_s)),
    )
    config.load()
    if certificates is not None:
        config.ssl = http_context(certificates)
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    _log.info("serving HTTP", address=address)
    try:
        yield address
    finally:
        server.should_exit = True
        await serving
        listener.close()


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise cannot_listen(host, port, "HTTP", error) from error
    listener.setblocking(False)
    return listener
