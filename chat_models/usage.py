"""Counts what chat models read, write and cost, and how often they fail.

Names, labels and bounds follow the OpenTelemetry conventions for generative AI where these have
some; those of costs and failures are our own.
"""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter, Histogram

from chassis.metrics import Metrics
from chat_models.chat import Completion

_MODEL = ("gen_ai_provider_name", "gen_ai_request_model")
_TOKENS = tuple(4.0**power for power in range(14))
_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class ChatUsage:
    """Counters with one series for each provider and model."""

    def __init__(self, metrics: Metrics) -> None:
        registry = metrics.registry
        self._tokens = Histogram(
            "gen_ai_client_token_usage",
            "Tokens that a call of a chat model read (input) and wrote (output).",
            (*_MODEL, "gen_ai_token_type"),
            buckets=_TOKENS,
            registry=registry,
        )
        self._cost = Counter(
            "chat_cost",
            "Cost of chat models, in units of the currency.",
            (*_MODEL, "currency"),
            registry=registry,
        )
        self._failures = Counter(
            "chat_failures",
            "Calls that a chat model did not answer, by reason.",
            (*_MODEL, "error_type"),
            registry=registry,
        )
        self._duration = Histogram(
            "gen_ai_client_operation_duration_seconds",
            "Seconds from asking a chat model to the end of its answer.",
            _MODEL,
            buckets=_SECONDS,
            registry=registry,
        )

    def count(self, completion: Completion) -> None:
        """Counts one answer."""
        labels = (completion.provider, completion.model)
        self._tokens.labels(*labels, "input").observe(completion.usage.input_tokens)
        self._tokens.labels(*labels, "output").observe(completion.usage.output_tokens)
        self._duration.labels(*labels).observe(completion.latency_ms / 1e3)
        if completion.cost:
            self._cost.labels(*labels, completion.currency).inc(completion.cost)

    def count_failure(self, provider: str, model: str, reason: str) -> None:
        """Counts one call without an answer."""
        self._failures.labels(provider, model, reason).inc()


@cache
def usage_of(metrics: Metrics) -> ChatUsage:
    """Returns the counters of these metrics, the same each time: a registry takes a name once."""
    return ChatUsage(metrics)
