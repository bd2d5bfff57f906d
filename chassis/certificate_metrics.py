"""What operators see of certificates."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter, Gauge

from chassis.metrics import Metrics


class CertificateMetrics:
    """When certificates in use expire, and what became of those that followed them."""

    def __init__(self, metrics: Metrics) -> None:
        self.reloads = Counter(
            "tls_certificate_reloads",
            "Changed certificate files, by what became of them: taken or refused.",
            ("use", "outcome"),
            registry=metrics.registry,
        )
        self.expiry = Gauge(
            "tls_certificate_expiry_timestamp_seconds",
            "When the certificate in use expires, in seconds since 1970 UTC.",
            ("use",),
            registry=metrics.registry,
        )


@cache
def certificate_metrics_of(metrics: Metrics) -> CertificateMetrics:
    """Returns those of these metrics, the same each time: a registry takes a name once."""
    return CertificateMetrics(metrics)
