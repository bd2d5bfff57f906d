"""What the retriever's figures are meant to reach, and where the measured ones are kept."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Goal:
    """Holds a ratio that a benchmark measures, and the bound it should keep, if there is one."""

    what: str
    benchmark: str
    figure: str
    """Name of the ratio among the figures of the benchmark."""
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def bound(self) -> str:
        """The goal in words."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return "" if self.at_most is None else f"≤ {self.at_most:g}"

    def reached(self, measured: float) -> bool | None:
        """Whether the bound is kept; None where there is none."""
        if self.at_least is not None:
            return measured >= self.at_least
        return None if self.at_most is None else measured <= self.at_most


def _speed(what: str, peer: str, bound: float, *, large: bool = False) -> Goal:
    benchmark = "retriever_peers_large" if large else "retriever_peers"
    return Goal(what, benchmark, f"core queries/s / {peer}", at_least=bound)


def _ingest(what: str, peer: str, bound: float, *, large: bool = False) -> Goal:
    benchmark = "retriever_peers_large" if large else "retriever_peers"
    return Goal(what, benchmark, f"ingest speed / {peer}", at_least=bound)


GOALS: Sequence[Goal] = (
    Goal(
        "dense leg, 29 % tombstones, queries/s over bare FAISS HNSW, 100k",
        "retriever_dense",
        "tombstones: queries/s / FAISS",
        at_least=0.85,
    ),
    Goal(
        "the same, no deletions",
        "retriever_dense",
        "one graph: queries/s / FAISS",
        at_least=0.85,
    ),
    Goal(
        "the same, built anew after the deletions",
        "retriever_dense",
        "compacted: queries/s / FAISS",
        at_least=0.85,
    ),
    Goal(
        "the same, uncompacted: tombstones and 2,000 rows outside of the graph",
        "retriever_dense",
        "uncompacted: queries/s / FAISS",
    ),
    Goal(
        "dense leg over exact FAISS, queries/s, 100k",
        "retriever_dense",
        "one graph: queries/s / exact",
        at_least=30,
    ),
    Goal(
        "filter on 1 % of 100k, time over the bare FAISS selector",
        "retriever_filters",
        "1%: time / exact",
        at_most=1.5,
    ),
    Goal(
        "filter on 10 % of 100k, time over the bare FAISS selector",
        "retriever_filters",
        "10%: time / exact",
        at_most=1.5,
    ),
    Goal(
        "filter on 50 % of 100k, time over FAISS's filtered graph at efSearch 128",
        "retriever_filters",
        "50%: time / graph",
    ),
    Goal(
        "filter on 90 % of 100k, the same",
        "retriever_filters",
        "90%: time / graph",
    ),
    Goal(
        "lexical leg, queries/s over bare tantivy, 100k",
        "retriever_lexical",
        "queries/s / tantivy",
        at_least=0.8,
    ),
    Goal(
        "lexical leg, queries/s over SQLite FTS5, 100k",
        "retriever_lexical",
        "queries/s / FTS5",
        at_least=20,
    ),
    Goal(
        "lexical leg, agreement with exact BM25",
        "retriever_lexical",
        "agreement with exact BM25",
        at_least=0.97,
    ),
    Goal(
        "one document until it is visible, p95 in ms",
        "retriever_visibility",
        "visible: p95, ms",
        at_most=50,
    ),
    Goal(
        "the same, over a bare commit to SQLite and tantivy",
        "retriever_visibility",
        "visible / least",
    ),
    _speed("hybrid search, queries/s over qdrant-edge, 20k", "qdrant_edge", 1),
    _speed("hybrid search, queries/s over qdrant-edge, 100k", "qdrant_edge", 1, large=True),
    _speed("hybrid search, queries/s over Chroma (dense only), 20k", "chroma", 2),
    _speed("hybrid search, queries/s over LanceDB, 20k", "lance", 10),
    _speed("hybrid search, queries/s over Milvus Lite, 20k", "milvus_lite", 25),
    Goal(
        "hybrid search, agreement with the exact one, 20k",
        "retriever_peers",
        "justesse: agreement",
        at_least=0.98,
    ),
    Goal(
        "hybrid search with three windows a passage, time over without",
        "retriever_windows",
        "search with windows / without",
    ),
    _ingest("ingest, passages/s over qdrant-edge, 20k", "qdrant_edge", 1.2),
    _ingest("ingest, passages/s over qdrant-edge, 100k", "qdrant_edge", 1.2, large=True),
    _ingest("ingest, passages/s over Chroma, 20k", "chroma", 2),
    _ingest("ingest, passages/s over Milvus Lite, 20k", "milvus_lite", 2),
    Goal("ingest, CPU time over qdrant-edge, 20k", "retriever_peers", "ingest CPU / qdrant_edge"),
    Goal("ingest, CPU time over Chroma, 20k", "retriever_peers", "ingest CPU / chroma"),
    Goal(
        "query p99 beside an ingest over at rest",
        "retriever_busy",
        "p99 beside an ingest / at rest",
        at_most=40,
    ),
    Goal(
        "memory over qdrant-edge, 20k, opened again",
        "retriever_peers",
        "memory when opened again / qdrant_edge",
    ),
    Goal(
        "memory over qdrant-edge, 100k, opened again",
        "retriever_peers_large",
        "memory when opened again / qdrant_edge",
        at_most=0.25,
    ),
    Goal(
        "int8 graph over float32 graph, bytes",
        "retriever_dense",
        "int8 graph / float32 graph, bytes",
        at_most=0.45,
    ),
    Goal(
        "growth from 10k to 100k: time a query",
        "retriever_peers_large",
        "core time, large / tenth",
        at_most=1.6,
    ),
    Goal(
        "growth from 10k to 100k: ingest CPU a passage",
        "retriever_peers_large",
        "ingest CPU / justesse_tenth",
        at_most=1.3,
    ),
)
