"""The switches there are, their types and ranges, and the values in force."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

MODEL_GROUP = "rag_enhancement"

SwitchValue = bool | int

_TRUE = frozenset({"true", "1", "on"})
_FALSE = frozenset({"false", "0", "off"})
LARGEST_COUNT = 200


@dataclass(frozen=True, slots=True)
class SwitchDefinition:
    """One switch: its key in the table, its default, and how its text is read.

    `read` raises ValueError saying what is expected.
    """

    key: str
    default: SwitchValue
    description: str
    read: Callable[[str], SwitchValue]


def read_truth(text: str) -> bool:
    """Reads true, false, 1, 0, on or off in any case."""
    word = text.strip().casefold()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(f"expected true or false, not {_shown(text)}")


def read_count(text: str) -> int:
    """Reads a whole number from 1 to 200."""
    word = text.strip()
    if not (word.isascii() and word.isdigit() and len(word) <= 9):
        raise ValueError(f"expected a whole number from 1 to {LARGEST_COUNT}, not {_shown(text)}")
    count = int(word)
    if not 1 <= count <= LARGEST_COUNT:
        raise ValueError(f"expected a whole number from 1 to {LARGEST_COUNT}, not {count}")
    return count


def written(value: SwitchValue) -> str:
    """Writes a value as the table holds it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


QUERY_REWRITE = SwitchDefinition(
    "rag_query_rewrite_enabled", True, "Rewrite queries before searching.", read_truth
)
HYBRID_SEARCH = SwitchDefinition(
    "rag_hybrid_search_enabled",
    True,
    "Search by words beside vectors; off leaves vectors only.",
    read_truth,
)
RERANKING = SwitchDefinition(
    "rag_reranking_enabled", True, "Rerank what the search found.", read_truth
)
HYBRID_CANDIDATES = SwitchDefinition(
    "rag_hybrid_candidate_count", 20, "Length of each list before fusion, 1 to 200.", read_count
)
RERANK_CANDIDATES = SwitchDefinition(
    "rag_rerank_candidate_count",
    10,
    "Candidates from the front that a reranking model looks at, 1 to 200.",
    read_count,
)

DEFINITIONS: Mapping[str, SwitchDefinition] = {
    definition.key: definition
    for definition in (
        HYBRID_CANDIDATES,
        HYBRID_SEARCH,
        QUERY_REWRITE,
        RERANK_CANDIDATES,
        RERANKING,
    )
}
"""All switches by key, ordered by key."""


@dataclass(frozen=True, slots=True)
class SwitchValues:
    """The values in force for one request."""

    query_rewrite_enabled: bool = True
    hybrid_search_enabled: bool = True
    reranking_enabled: bool = True
    hybrid_candidate_count: int = 20
    rerank_candidate_count: int = 10
