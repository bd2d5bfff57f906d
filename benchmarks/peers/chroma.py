"""Chroma: dense search alone, texts beside it. Its SQLite database waits for the disk."""

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from benchmarks.peers.peer import (
    CONSTRUCTION_BREADTH,
    LIMIT,
    NEIGHBOURS,
    SEARCH_BREADTH,
    Answer,
    batches,
)
from benchmarks.search_corpus import Question, SearchCorpus


class Chroma:
    """Implements `Peer`."""

    hybrid = False

    def __init__(self, folder: Path) -> None:
        self._client: Any = chromadb.PersistentClient(
            str(folder), Settings(anonymized_telemetry=False)
        )
        self._collection = self._client.get_or_create_collection(
            "bench",
            embedding_function=None,
            configuration={
                "hnsw": {
                    "space": "ip",
                    "max_neighbors": NEIGHBOURS,
                    "ef_construction": CONSTRUCTION_BREADTH,
                    "ef_search": SEARCH_BREADTH,
                }
            },
        )

    def ingest(self, corpus: SearchCorpus) -> None:
        """See `Peer`."""
        for ids in batches(corpus):
            self._collection.add(
                ids=[str(id_) for id_ in ids],
                embeddings=corpus.vectors[ids.start : ids.stop],
                documents=list(corpus.texts[ids.start : ids.stop]),
            )

    def search(self, question: Question) -> Answer:
        """See `Peer`."""
        found = self._collection.query(
            query_embeddings=question.vector[None, :], n_results=LIMIT, include=["documents"]
        )
        pairs = zip(found["ids"][0], found["documents"][0], strict=True)
        return Answer([int(id_) for id_, text in pairs if text])

    def close(self) -> None:
        """See `Peer`."""
        self._client.close()


def opened(folder: Path) -> Chroma:
    """See `PeerModule`."""
    return Chroma(folder)
