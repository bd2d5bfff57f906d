"""What is set beside the switches' table: values for one workspace, and for a share of queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gateway.switches.values import (
    HYBRID_CANDIDATES,
    HYBRID_SEARCH,
    QUERY_REWRITE,
    RERANK_CANDIDATES,
    RERANKING,
    SwitchValue,
    SwitchValues,
    written,
)

_FIELDS: Mapping[str, str] = {
    QUERY_REWRITE.key: "query_rewrite_enabled",
    HYBRID_SEARCH.key: "hybrid_search_enabled",
    RERANKING.key: "reranking_enabled",
    HYBRID_CANDIDATES.key: "hybrid_candidate_count",
    RERANK_CANDIDATES.key: "rerank_candidate_count",
}
CONTROL = "control"
"""Variant of a query that rollouts could have reached and did not."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """Gives a switch another value for a share of the queries; `percent` is over 0, up to 100."""

    key: str
    value: SwitchValue
    percent: float

    def reaches(self, workspace: str, query: str) -> bool:
        """Whether this query is in the share: always the same, whichever replica is asked.

        A higher percentage reaches every query that a lower one did. The key is part of what is
        hashed, so that rollouts of two switches are independent.
        """
        text = f"{self.key}\0{workspace}\0{query}"
        digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") < self.percent / 100 * 2**64


@dataclass(frozen=True, slots=True)
class SwitchChoice:
    """The values for one query, and the variant they make it; empty where no rollout is on.

    A variant names what rollouts changed, as in `rag_reranking_enabled=false`, joined by commas.
    """

    values: SwitchValues
    variant: str = ""


@dataclass(frozen=True, slots=True)
class SwitchRules:
    """All overrides by workspace and key, and all rollouts by key, as of a version."""

    version: int = 0
    overrides: Mapping[str, Mapping[str, SwitchValue]] = field(default_factory=dict)
    rollouts: Mapping[str, Rollout] = field(default_factory=dict)

    def choice(self, values: SwitchValues, workspace: str, query: str) -> SwitchChoice:
        """Returns the values for a query: an override counts before a rollout before the table."""
        own = self.overrides.get(workspace)
        if not own and not self.rollouts:
            return SwitchChoice(values)
        changes = {_FIELDS[key]: value for key, value in (own or {}).items()}
        open_rollouts = [each for key, each in self.rollouts.items() if key not in (own or {})]
        reached = [each for each in open_rollouts if each.reaches(workspace, query)]
        changes |= {_FIELDS[each.key]: each.value for each in reached}
        named = ",".join(f"{each.key}={written(each.value)}" for each in reached)
        variant = named or (CONTROL if open_rollouts else "")
        return SwitchChoice(replace(values, **changes), variant)  # type: ignore[arg-type]
