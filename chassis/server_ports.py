"""The ports of a server: how they are bound, and what gRPC is told about their connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc.aio

from chassis.binding import cannot_listen, joined, require_free
from chassis.certificates import WatchedCertificates
from chassis.metrics import Metrics
from chassis.metrics_endpoint import metrics_endpoint
from chassis.server_settings import ServerSettings
from chassis.tls_server import grpc_credentials


@asynccontextmanager
async def metrics_served(metrics: Metrics, settings: ServerSettings) -> AsyncIterator[int]:
    """Serves the metrics over HTTP while inside; yields the port."""
    host, port = settings.management_host, settings.metrics_port
    require_free(host, port, "metrics")
    async with metrics_endpoint(metrics, host, port) as bound:
        yield bound


def bind(
    server: grpc.aio.Server,
    host: str,
    port: int,
    purpose: str,
    *,
    certificates: WatchedCertificates | None = None,
) -> str:
    """Binds a port, encrypted where there are certificates, and returns its address.

    Raises StartError where it cannot be listened on; `purpose` names it there.
    """
    # Asked first because gRPC hides the reason and prints lines of its own.
    require_free(host, port, purpose)
    try:
        if certificates is None:
            bound = server.add_insecure_port(joined(host, port))
        else:
            bound = server.add_secure_port(joined(host, port), grpc_credentials(certificates))
    except RuntimeError as error:
        raise cannot_listen(host, port, purpose, OSError(str(error))) from error
    return joined(host, bound)


def server_options(settings: ServerSettings) -> list[tuple[str, int]]:
    """Returns the gRPC server arguments."""
    options = [
        # Otherwise two servers share a port without any error.
        ("grpc.so_reuseport", 0),
        ("grpc.max_send_message_length", settings.max_message_bytes),
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        # Clients ping every 30 s, also when idle; see channel.py.
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
    ]
    if settings.max_connection_age_s is not None:
        options.append(("grpc.max_connection_age_ms", round(settings.max_connection_age_s * 1000)))
    return options
