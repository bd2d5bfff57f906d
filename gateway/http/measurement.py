"""One log line and one measurement for each HTTP request; never its content."""

from __future__ import annotations

import structlog
from prometheus_client import Histogram

from chassis.metrics import Metrics
from gateway.http.request_span import known_method

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_log = structlog.get_logger("gateway.http.access")


class RequestMeasurement:
    """Counts and times requests by method, route and status."""

    def __init__(self, metrics: Metrics) -> None:
        self.clock = metrics.clock
        self._seconds = Histogram(
            "http_server_request_duration_seconds",
            "Seconds from the arrival of a request to its end.",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=_BUCKETS,
            registry=metrics.registry,
        )

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Notes the end of a request; `route` is the template, empty where none fits."""
        method = known_method(method)
        self._seconds.labels(method, route, str(status)).observe(seconds)
        _log.info(
            "request",
            method=method,
            route=route,
            status=status,
            milliseconds=round(seconds * 1e3, 3),
        )
