"""qdrant-edge: HNSW and sparse BM25 vectors, fused by the library itself.

It writes ahead without waiting for the disk, and is flushed once, at the end of the ingest.
"""

from pathlib import Path
from typing import Any

import qdrant_edge as edge

from benchmarks.peers.peer import (
    CANDIDATES,
    CONSTRUCTION_BREADTH,
    LIMIT,
    NEIGHBOURS,
    RANK_CONSTANT,
    SEARCH_BREADTH,
    Answer,
    batches,
)
from benchmarks.retriever_corpus import WIDTH
from benchmarks.search_corpus import Question, SearchCorpus

_AVERAGE_LENGTH = 120.0
# Vectors of fewer kilobytes are not indexed.
_INDEXING_THRESHOLD = 1_000


class QdrantEdge:
    """Implements `Peer`."""

    hybrid = True

    def __init__(self, shard: Any) -> None:
        self._shard = shard
        self._words = edge.Bm25(
            edge.Bm25Config(
                avg_len=_AVERAGE_LENGTH,
                stemmer=edge.DisabledStemmer(),
                stopwords=edge.StopwordsSet(),
            )
        )
        self._parameters = edge.SearchParams(hnsw_ef=SEARCH_BREADTH)

    def ingest(self, corpus: SearchCorpus) -> None:
        """See `Peer`."""
        for ids in batches(corpus):
            points = [
                edge.Point(
                    id_,
                    {
                        "dense": corpus.vectors[id_].tolist(),
                        "words": self._words.embed_document(corpus.texts[id_]),
                    },
                    {"text": corpus.texts[id_]},
                )
                for id_ in ids
            ]
            self._shard.update(edge.UpdateOperation.upsert_points(points))
        self._shard.optimize()
        self._shard.flush()

    def search(self, question: Question) -> Answer:
        """See `Peer`."""
        request = edge.QueryRequest(
            limit=LIMIT,
            query=edge.Fusion.Rrf(RANK_CONSTANT),
            prefetches=[
                edge.Prefetch(
                    CANDIDATES,
                    query=edge.Query.Nearest(question.vector.tolist(), using="dense"),
                    params=self._parameters,
                ),
                edge.Prefetch(
                    CANDIDATES,
                    query=edge.Query.Nearest(self._words.embed_query(question.text), using="words"),
                ),
            ],
            with_payload=True,
        )
        return Answer([point.id for point in self._shard.query(request) if point.payload["text"]])

    def close(self) -> None:
        """See `Peer`."""
        self._shard.close()


def opened(folder: Path) -> QdrantEdge:
    """See `PeerModule`."""
    place = folder / "shard"
    if place.exists():
        return QdrantEdge(edge.EdgeShard.load(str(place)))
    place.mkdir(parents=True)
    config = edge.EdgeConfig(
        vectors={"dense": edge.EdgeVectorParams(WIDTH, edge.Distance.Dot)},
        sparse_vectors={"words": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=edge.HnswIndexConfig(
            NEIGHBOURS, CONSTRUCTION_BREADTH, full_scan_threshold=_INDEXING_THRESHOLD
        ),
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_INDEXING_THRESHOLD),
    )
    return QdrantEdge(edge.EdgeShard.create(str(place), config))
