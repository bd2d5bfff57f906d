"""The client of an embedding vendor: its patience, and how it reads refusals."""

from chassis.circuit_breaker import CircuitBreaker
from chassis.patience import Patience
from chassis.vendor_client import VendorClient
from chassis.vendor_connection import Connection, Timing
from chassis.vendor_http import VendorHttp
from embedder_svc.hosted.refusals import judged

# A vendor that takes longer for a request is better left for the next one.
_PATIENCE = Patience(attempt_timeout_s=20.0, total_timeout_s=60.0, fair_timeout_s=1.0)


def embedding_client(
    connection: Connection,
    http: VendorHttp,
    breaker: CircuitBreaker,
    timing: Timing,
    patience: Patience = _PATIENCE,
) -> VendorClient:
    """Returns a client that is patient enough for a batch of texts."""
    return connection.client(http, breaker, timing, patience=patience, judge=judged)
