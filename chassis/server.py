"""Starts, watches and stops the gRPC server of a process.

Three ports: business (the served services and reflection), management (health only, plaintext,
for probes) and metrics (HTTP). The interceptor order is written in `surroundings` and nowhere
else; the drain order in `RunningServer.drain` and `running_server`.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import grpc
import grpc.aio
import structlog
import uvloop
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from chassis.access_log import calls_logged
from chassis.binding import (
    EXIT_SOFTWARE,
    StartError,
    require_trusted_host,
)
from chassis.certificates import WatchedCertificates
from chassis.deadline import deadline_bound
from chassis.entrance import Entrance, Guard
from chassis.error_mapping import errors_mapped
from chassis.errors import ServiceError
from chassis.health import Health, HealthServicer
from chassis.interception import Surround, SurroundingInterceptor
from chassis.logs import LogFormat, LogLevel, configure_logs, flush_logs
from chassis.metrics import Metrics, process_metrics, server_calls_measured
from chassis.peer_names import peers_named
from chassis.request_id import request_id_bound
from chassis.server_ports import bind, metrics_served, server_options
from chassis.server_settings import ServerSettings
from chassis.shedding import Shedding
from chassis.tracing.calls import TracedCall
from chassis.tracing.export import SpanExport, spans_exported
from chassis.tracing.spans import current_tracer

__all__ = [
    "RunningServer",
    "ServedService",
    "ServerSettings",
    "StartError",
    "run",
    "running_server",
    "serve_until_signalled",
    "server_options",
    "surroundings",
]

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = structlog.get_logger("chassis.server")


@dataclass(frozen=True, slots=True)
class ServedService:
    """A service to serve: its full proto name and what adds its servicer to a server.

    `default_deadlines` gives methods (by their short name) their own seconds where the caller set
    none; None means unlimited, which is also the rule for streams not named here. `ready` is what
    health says until `set_serving` is called.
    """

    name: str
    register: Callable[[grpc.aio.Server], None]
    default_deadlines: Mapping[str, float | None] = field(default_factory=dict)
    ready: bool = True


def surroundings(
    services: Sequence[ServedService], settings: ServerSettings, metrics: Metrics
) -> list[Surround]:
    """Returns what surrounds every call, outermost first.

    1. request id: everything further in logs it, the access log and tracebacks included.
    2. span, where the process makes some: around what logs its trace id.
    3. access log: sees every call, also those refused further in, with the final status.
    4. metrics: the same, without the time that logging takes.
    5. error mapping: inside 2 to 4, which read the status it sets.
    6. deadline: innermost, since its refusals are ServiceErrors that 5 turns into a status.
    """
    deadlines = {
        f"{service.name}/{method}": seconds
        for service in services
        for method, seconds in service.default_deadlines.items()
    }
    return [
        request_id_bound,
        *(() if current_tracer() is None else (TracedCall,)),
        calls_logged,
        server_calls_measured(metrics),
        errors_mapped,
        deadline_bound(settings.default_deadline_s, deadlines),
    ]


class RunningServer:
    """A started server; `running_server` makes and ends it."""

    def __init__(
        self, business: grpc.aio.Server, health: Health, metrics: Metrics, settings: ServerSettings
    ) -> None:
        self.health = health
        self.metrics = metrics
        self.address = ""
        self.management_address = ""
        self.metrics_port = 0
        self._business = business
        self._settings = settings

    def set_serving(self, name: str, serving: bool) -> None:
        """Says whether the service of this full name can answer now."""
        self.health.set_serving(name, serving)

    async def drain(self) -> None:
        """Turns health to NOT_SERVING, pauses so that callers notice, lets calls finish."""
        self.health.begin_drain()
        await asyncio.sleep(self._settings.drain_pause_s)
        await self.stop()

    async def stop(self) -> None:
        """Takes no new calls and gives those in flight the grace; without the pause."""
        self.health.begin_drain()
        await self._business.stop(self._settings.drain_grace_s)


@asynccontextmanager
async def running_server(
    services: Sequence[ServedService],
    settings: ServerSettings,
    *,
    metrics: Metrics | None = None,
    guard: Guard | None = None,
    shedding: Shedding | None = None,
    certificates: WatchedCertificates | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves while inside; raises StartError if it may not or cannot listen.

    `shedding` stands before everything else, logs included. `guard` checks every call of the
    business port, reflection included. With `certificates` that port is encrypted; where they hold
    CAs, only callers of the settings' `mesh_peer_names` come in.
    Channels opened outside of this block are closed after the last call has ended.
    """
    mutual = certificates is not None and certificates.current().authorities is not None
    require_trusted_host(settings.host, insecure=settings.insecure or mutual)
    metrics = metrics or process_metrics()
    health = Health({service.name: service.ready for service in services})
    async with AsyncExitStack() as stack:
        surrounds = surroundings(services, settings, metrics)
        if mutual:
            # Innermost but for the deadline: a refusal is logged and measured as anything else.
            surrounds.insert(-1, peers_named(settings.mesh_peer_names))
        business = grpc.aio.server(
            interceptors=[
                *(() if shedding is None else (shedding,)),
                SurroundingInterceptor(surrounds),
                # Inside, so that what it refuses is logged, measured and told as anything else.
                *(() if guard is None else (Entrance(guard),)),
            ],
            options=server_options(settings),
            maximum_concurrent_rpcs=settings.max_concurrent_calls,
        )
        server = RunningServer(business, health, metrics, settings)
        server.metrics_port = await stack.enter_async_context(metrics_served(metrics, settings))
        management = grpc.aio.server(options=server_options(settings))
        health_pb2_grpc.add_HealthServicer_to_server(HealthServicer(health), management)
        server.management_address = bind(
            management, settings.management_host, settings.management_port, "health"
        )
        for service in services:
            service.register(business)
        if settings.reflection:
            names = [service.name for service in services]
            reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], business)
        server.address = bind(
            business, settings.host, settings.port, "business", certificates=certificates
        )
        stack.push_async_callback(management.stop, None)
        await management.start()
        stack.push_async_callback(server.stop)
        await business.start()
        _log.info(
            "serving",
            address=server.address,
            management_address=server.management_address,
            metrics_port=server.metrics_port,
            services=[service.name for service in services],
        )
        yield server
    _log.info("stopped", address=server.address)


async def serve_until_signalled(server: RunningServer) -> None:
    """Waits for SIGTERM or SIGINT, then drains; a second signal ends the process at once."""
    # What lives as long as the process is not looked through again by every full collection.
    gc.collect()
    gc.freeze()
    loop = asyncio.get_running_loop()
    signalled = asyncio.Event()

    def received(number: signal.Signals) -> None:
        if signalled.is_set():
            flush_logs()
            os._exit(128 + number)
        signalled.set()

    # Handlers of the loop, as those of the signal module do not wake an idle one; set explicitly,
    # as process 1 of a container ignores signals that nobody handles.
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, received, number)
    try:
        await signalled.wait()
        _log.info("draining", address=server.address)
        await server.drain()
    finally:
        for number in _STOP_SIGNALS:
            loop.remove_signal_handler(number)


def run(
    main: Callable[[], Coroutine[Any, Any, None]],
    *,
    log_format: LogFormat = "json",
    log_level: LogLevel = "info",
    spans: SpanExport | None = None,
) -> None:
    """Runs the process: logs, spans where they are to be exported, event loop, exit code.

    Returns normally on success. StartError and ServiceErrors end with one line on standard error
    and an exit code other than 0, without a traceback; anything else is logged with one (exit 70).
    """
    configure_logs(log_format, log_level)
    try:
        with spans_exported(spans):
            uvloop.run(main())
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None
    except Exception as error:
        cause = _only_member(error)
        if isinstance(cause, StartError):
            _end_with(str(cause), cause.exit_code)
        if isinstance(cause, ServiceError):
            _end_with(str(cause), 1)
        _log.exception("the process ends with an unexpected error")
        raise SystemExit(EXIT_SOFTWARE) from None
    finally:
        flush_logs()


def _only_member(error: Exception) -> Exception:
    """Returns what a group of one holds: task groups wrap whatever ends them."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _end_with(message: str, exit_code: int) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    raise SystemExit(exit_code)
