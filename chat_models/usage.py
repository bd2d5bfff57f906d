"""Counts what chat models read, write and cost, and how often they fail."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter, Histogram

from chassis.metrics import Metrics
from chat_models.chat import Completion

_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class ChatUsage:
    """Counters with one series for each provider and model."""

    def __init__(self, metrics: Metrics) -> None:
        registry = metrics.registry
        self._tokens = Counter(
            "chat_tokens",
            "Tokens read (input) and written (output) by chat models.",
            ("provider", "model", "direction"),
            registry=registry,
        )
        self._cost = Counter(
            "chat_cost",
            "Cost of chat models, in units of the currency.",
            ("provider", "model", "currency"),
            registry=registry,
        )
        self._failures = Counter(
            "chat_failures",
            "Calls that a chat model did not answer, by reason.",
            ("provider", "model", "reason"),
            registry=registry,
        )
        self._duration = Histogram(
            "chat_duration_seconds",
            "Seconds from asking a chat model to the end of its answer.",
            ("provider", "model"),
            buckets=_SECONDS,
            registry=registry,
        )

    def count(self, completion: Completion) -> None:
        """Counts one answer."""
        labels = (completion.provider, completion.model)
        self._tokens.labels(*labels, "input").inc(completion.usage.input_tokens)
        self._tokens.labels(*labels, "output").inc(completion.usage.output_tokens)
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
