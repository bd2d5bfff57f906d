"""The client of a chat vendor: its patience, and how it reads refusals."""

from __future__ import annotations

from chassis.circuit_breaker import CircuitBreaker
from chassis.patience import Patience
from chassis.vendor_client import VendorClient
from chassis.vendor_connection import Connection, Timing
from chassis.vendor_errors import VendorRefused
from chassis.vendor_http import VendorHttp
from chat_models.refusals import judged

ATTEMPTS = 2
ATTEMPT_TIMEOUT_S = 60.0
# Somebody waits for the answer: two attempts, and short pauses. An attempt that was given less
# than a second proves nothing, since a good model may take as long for its first word.
_PATIENCE = Patience(
    attempt_timeout_s=ATTEMPT_TIMEOUT_S,
    total_timeout_s=120.0,
    fair_timeout_s=1.0,
    attempts=ATTEMPTS,
    backoff_s=0.25,
    max_backoff_s=2.0,
)


def chat_client(
    connection: Connection,
    http: VendorHttp,
    breaker: CircuitBreaker,
    timing: Timing,
    patience: Patience = _PATIENCE,
) -> VendorClient:
    """Returns a client over these connections; the caller's deadline bounds each call."""
    return connection.client(http, breaker, timing, patience=patience, judge=judged)


async def list_models(client: VendorClient) -> None:
    """Asks for the list of models, which costs nothing; one that is missing is no failure."""
    try:
        await client.get_json("/models")
    except VendorRefused as refused:
        if refused.status not in (404, 405):
            raise
