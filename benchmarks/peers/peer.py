"""What a comparison needs of a system: take passages in, answer, be opened again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.search_corpus import Question, SearchCorpus

LIMIT = 20
"""Hits of a query, with their texts."""
CANDIDATES = 50
"""Length of each list before fusion."""
BATCH = 640
"""Passages taken in together."""
NEIGHBOURS, CONSTRUCTION_BREADTH, SEARCH_BREADTH = 16, 100, 128
"""HNSW's M, efConstruction and efSearch, for everybody."""
RANK_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """Holds the ids of the hits, best first; their texts were read."""

    ids: Sequence[int]
    core_s: float | None = None
    """Seconds of the search itself, where the system answers on a thread of its own."""


class Peer(Protocol):
    """One system over one folder."""

    hybrid: bool
    """Whether a query uses its words too; otherwise its vector alone."""

    def ingest(self, corpus: SearchCorpus) -> None:
        """Takes passages into the empty system, `BATCH` at a time; passage i gets id i.

        Returns when all indexes are there, except for those that come with the first search.
        """
        ...

    def search(self, question: Question) -> Answer:
        """Returns the `LIMIT` best passages."""
        ...

    def close(self) -> None:
        """Closes the files."""
        ...


class PeerModule(Protocol):
    """A module of this package; it imports its system, so it is only imported where that is."""

    def opened(self, folder: Path) -> Peer:
        """Opens what the folder holds, or an empty system where it holds nothing."""
        ...


def batches(corpus: SearchCorpus) -> list[range]:
    """Returns the ids of each batch."""
    count = len(corpus.texts)
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]
