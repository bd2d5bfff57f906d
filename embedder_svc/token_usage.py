"""Counts the tokens that models read, by provider and workspace."""

from functools import cache

from prometheus_client import Counter

from chassis.metrics import Metrics

MAX_WORKSPACES = 1000
NO_WORKSPACE = "(none)"
OTHER_WORKSPACES = "(other)"


class TokenUsage:
    """A counter with one series for each provider, model, purpose and workspace.

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
        self._workspaces: set[str] = set()

    def count(
        self, token_count: int, *, provider: str, model: str, purpose: str, workspace: str
    ) -> None:
        """Adds tokens to a series; an empty workspace stands for none."""
        labels = (provider, model, purpose, self._label(workspace))
        self._tokens.labels(*labels).inc(token_count)

    def _label(self, workspace: str) -> str:
        if not workspace:
            return NO_WORKSPACE
        if workspace not in self._workspaces and len(self._workspaces) >= MAX_WORKSPACES:
            return OTHER_WORKSPACES
        self._workspaces.add(workspace)
        return workspace


@cache
def token_usage(metrics: Metrics) -> TokenUsage:
    """Returns the counter of these metrics, the same each time: a registry takes a name once."""
    return TokenUsage(metrics)
