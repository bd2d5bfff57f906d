"""How many retries a client may add to an outage.

The token bucket of gRPC's retry throttling (proposal A6): a failure takes one token, a success
returns a fraction, and nothing is tried again while no more than half of the tokens are left. In
a steady outage the retries therefore stop after a few calls, whatever each call would still like.
"""

from __future__ import annotations


class RetryBudget:
    """One budget for all calls to one place; used on one event loop, so without a lock."""

    def __init__(self, *, max_tokens: float = 10.0, per_success: float = 0.1) -> None:
        if max_tokens <= 0 or per_success <= 0:
            raise ValueError("max_tokens and per_success must be greater than 0")
        self._max = max_tokens
        self._per_success = per_success
        self._tokens = max_tokens

    @property
    def allows_retry(self) -> bool:
        """Whether a failed call may be tried again now."""
        return self._tokens > self._max / 2

    def record_failure(self) -> None:
        """Counts an attempt that failed in a way that another attempt might cure."""
        self._tokens = max(0.0, self._tokens - 1.0)

    def record_success(self) -> None:
        """Counts an attempt that gave an answer."""
        self._tokens = min(self._max, self._tokens + self._per_success)
