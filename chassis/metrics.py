"""Durations of calls, by method and status, on both sides of a call.

Names follow the OpenTelemetry conventions for RPC (`rpc.server.call.duration`, in seconds), with
dots as underscores. One Metrics holds one registry: the process has one, a test may make its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import cache, partial
from types import TracebackType

import grpc
import grpc.aio
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector

from chassis.finished_call import code_of_finished
from chassis.interception import CalledMethod, ServicerContext, Surround

_LABELS = ("rpc_method", "rpc_response_status_code")

# Seconds; the bounds the conventions advise, with two finer ones for calls on one machine.
_BUCKETS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5),
    *(0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
)


class Metrics:
    """A registry and the two histograms every service has."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        registry: CollectorRegistry | None = None,
    ) -> None:
        self.registry = registry or CollectorRegistry()
        self.clock = clock
        self.server_calls = Histogram(
            "rpc_server_call_duration_seconds",
            "Seconds from the arrival of a call to its end.",
            _LABELS,
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.client_calls = Histogram(
            "rpc_client_call_duration_seconds",
            "Seconds from the start of a call to another service to its end.",
            _LABELS,
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def exposition(self) -> bytes:
        """Returns all values in the Prometheus text format."""
        return generate_latest(self.registry)


@cache
def process_metrics() -> Metrics:
    """Returns the metrics of this process, with those of its memory, time and open files."""
    metrics = Metrics()
    ProcessCollector(registry=metrics.registry)
    return metrics


def ended_status(context: ServicerContext, error: BaseException | None) -> str:
    """Returns the name of the status with which a call ends, `error` being what left its handler.

    A handler is cancelled when the deadline passes as well as when the caller goes away.
    """
    if isinstance(error, asyncio.CancelledError):
        remaining: float | None = context.time_remaining()
        late = remaining is not None and remaining <= 0
        return "DEADLINE_EXCEEDED" if late else "CANCELLED"
    code: object = context.code()
    if isinstance(code, grpc.StatusCode):
        return code.name
    return "OK" if error is None else "UNKNOWN"


def server_calls_measured(metrics: Metrics) -> Surround:
    """Server half: returns what measures each call."""
    return partial(_MeasuredCall, metrics)


class _MeasuredCall:
    __slots__ = ("_context", "_method", "_metrics", "_start")

    def __init__(self, metrics: Metrics, method: CalledMethod, context: ServicerContext) -> None:
        self._metrics = metrics
        self._method = method
        self._context = context
        self._start = 0.0

    async def __aenter__(self) -> None:
        self._start = self._metrics.clock()

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        status = ended_status(self._context, error)
        series = self._metrics.server_calls.labels(self._method.full_name, status)
        series.observe(self._metrics.clock() - self._start)


def client_call_measured(metrics: Metrics, method: str, call: grpc.aio.Call) -> None:
    """Client half: measures a call that has just been started, once it ends."""
    start = metrics.clock()
    open_calls = [call]

    def ended(_ended: object) -> None:
        # Called again if a write fails after the call has ended.
        if open_calls:
            code = code_of_finished(open_calls.pop())
            series = metrics.client_calls.labels(method.lstrip("/"), code.name)
            series.observe(metrics.clock() - start)

    call.add_done_callback(ended)
