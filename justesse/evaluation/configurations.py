"""Combinations of switches to measure, by name: `dense`, `hybrid`, `rewriting+hybrid+reranking`."""

from collections.abc import Mapping
from dataclasses import dataclass

FEATURES: Mapping[str, str] = {
    "rewriting": "rag_query_rewrite_enabled",
    "hybrid": "rag_hybrid_search_enabled",
    "reranking": "rag_reranking_enabled",
}
"""Features by the word for them, each with its switch."""

CURRENT = "current"
"""Names the switches as they are."""
DENSE = "dense"
"""Names no feature at all: vectors alone."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A name, and the values that its switches are set to; empty leaves them as they are."""

    name: str
    switches: Mapping[str, str]


LADDER = (DENSE, "rewriting", "rewriting+hybrid", "rewriting+hybrid+reranking")
"""Each feature on top of the ones before."""


def configuration_named(name: str) -> Configuration:
    """Returns the configuration of a name; raises ValueError for a feature that there is not."""
    if name == CURRENT:
        return Configuration(name, {})
    features = [] if name == DENSE else [word.strip() for word in name.split("+")]
    unknown = [word for word in features if word not in FEATURES]
    if unknown:
        raise ValueError(
            f"{name!r} names {', '.join(map(repr, unknown))}; use {CURRENT}, {DENSE}, or some of "
            f"{', '.join(FEATURES)} joined by +"
        )
    return Configuration(
        name, {key: str(word in features).lower() for word, key in FEATURES.items()}
    )
