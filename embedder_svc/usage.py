"""Counts what embedding takes and costs, by provider and workspace, and what the cache saves."""

from collections.abc import Sequence
from functools import cache, partial

from prometheus_client import Counter, Gauge

from chassis.metrics import Metrics
from embedder_svc.chain_link import ChainLink, Embedding, ProviderState
from embedder_svc.embedding import EmbeddingPurpose

MAX_WORKSPACES = 1000
NO_WORKSPACE = "(none)"
OTHER_WORKSPACES = "(other)"


class Usage:
    """Counters with one series for each provider, model and workspace.

    At most MAX_WORKSPACES workspaces are told apart; later ones are counted together, since every
    series costs memory for the life of the process.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._tokens = Counter(
            "embedder_tokens",
            "Tokens read by embedding models.",
            ("provider", "model", "purpose", "workspace"),
            registry=metrics.registry,
        )
        self._cost = Counter(
            "embedder_cost",
            "Cost of embedding, in units of the currency.",
            ("provider", "model", "currency", "workspace"),
            registry=metrics.registry,
        )
        self._cached = Counter(
            "embedder_cache_texts",
            "Texts whose vector was known (hit) or was not (miss).",
            ("outcome",),
            registry=metrics.registry,
        )
        self._failed = Counter(
            "embedder_failed_texts",
            "Texts that a provider could not embed, though it embeds others.",
            ("provider", "model"),
            registry=metrics.registry,
        )
        self._available = Gauge(
            "embedder_provider_available",
            "1 if calls are sent to the provider, 0 if not.",
            ("provider",),
            registry=metrics.registry,
        )
        self._drifted = Gauge(
            "embedder_space_drifted",
            "1 if the model behind the provider's space has changed.",
            ("provider",),
            registry=metrics.registry,
        )
        self._drift_refusals = Counter(
            "embedder_drift_refusals",
            "Calls refused because the provider's model is not the one that made the vectors.",
            ("provider",),
            registry=metrics.registry,
        )
        self._latency = Gauge(
            "embedder_provider_last_latency_seconds",
            "Seconds that the provider's last successful call took.",
            ("provider",),
            registry=metrics.registry,
        )
        self._workspaces: set[str] = set()

    def count(self, embedding: Embedding, purpose: EmbeddingPurpose, workspace: str) -> None:
        """Counts one answer; an empty workspace stands for none."""
        model, label = (embedding.provider, embedding.model), self._label(workspace)
        self._tokens.labels(*model, purpose.value, label).inc(embedding.batch.token_count)
        if embedding.cost:
            self._cost.labels(*model, embedding.currency, label).inc(embedding.cost)
        texts = embedding.batch.texts
        hits = sum(text.cached for text in texts)
        self._cached.labels("hit").inc(hits)
        self._cached.labels("miss").inc(len(texts) - hits)
        if failed := sum(bool(text.failure) for text in texts):
            self._failed.labels(*model).inc(failed)

    def count_drift_refusal(self, provider: str) -> None:
        """Counts a call that was refused because the model behind a space has changed."""
        self._drift_refusals.labels(provider).inc()

    def watch(self, links: Sequence[ChainLink]) -> None:
        """Shows the state of these providers whenever the metrics are read."""
        for link in links:
            self._available.labels(link.name).set_function(
                partial(_is_in_state, link, ProviderState.AVAILABLE)
            )
            self._drifted.labels(link.name).set_function(
                partial(_is_in_state, link, ProviderState.DRIFTED)
            )
            self._latency.labels(link.name).set_function(partial(_last_latency_s, link))
            self._drift_refusals.labels(link.name)

    def _label(self, workspace: str) -> str:
        if not workspace:
            return NO_WORKSPACE
        if workspace not in self._workspaces and len(self._workspaces) >= MAX_WORKSPACES:
            return OTHER_WORKSPACES
        self._workspaces.add(workspace)
        return workspace


def _is_in_state(link: ChainLink, state: ProviderState) -> float:
    return float(link.describe().state is state)


def _last_latency_s(link: ChainLink) -> float:
    return (link.describe().last_latency_ms or 0.0) / 1e3


@cache
def usage_of(metrics: Metrics) -> Usage:
    """Returns the counters of these metrics, the same each time: a registry takes a name once."""
    return Usage(metrics)
