"""LanceDB: an HNSW index and a full-text index, fused by the library itself.

It writes files without waiting for the disk.
"""

from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow
from lancedb.index import FTS, HnswFlat
from lancedb.rerankers import RRFReranker

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

_SCHEMA = pyarrow.schema(
    [
        ("id", pyarrow.int64()),
        ("text", pyarrow.string()),
        ("vector", pyarrow.list_(pyarrow.float32(), WIDTH)),
    ]
)


class Lance:
    """Implements `Peer`."""

    hybrid = True

    def __init__(self, folder: Path) -> None:
        database: Any = lancedb.connect(str(folder))
        self._table = database.create_table("passages", schema=_SCHEMA, exist_ok=True)
        self._fusion = RRFReranker(RANK_CONSTANT)

    def ingest(self, corpus: SearchCorpus) -> None:
        """See `Peer`."""
        for ids in batches(corpus):
            values = pyarrow.array(corpus.vectors[ids.start : ids.stop].reshape(-1))
            columns = [
                pyarrow.array(np.arange(ids.start, ids.stop)),
                pyarrow.array(corpus.texts[ids.start : ids.stop]),
                pyarrow.FixedSizeListArray.from_arrays(values, WIDTH),
            ]
            self._table.add(pyarrow.table(columns, schema=_SCHEMA))
        graph = HnswFlat(
            distance_type="dot",
            num_partitions=1,
            m=NEIGHBOURS,
            ef_construction=CONSTRUCTION_BREADTH,
        )
        self._table.create_index("vector", config=graph)
        words = FTS(with_position=False, stem=False, remove_stop_words=False)
        self._table.create_index("text", config=words)
        self._table.optimize()

    def search(self, question: Question) -> Answer:
        """See `Peer`."""
        found = (
            self._table.search(query_type="hybrid", fts_columns="text")
            .vector(question.vector)
            .text(question.text)
            .distance_type("dot")
            .ef(SEARCH_BREADTH)
            .rerank(self._fusion)
            .limit(CANDIDATES)
            .select(["id", "text"])
            .to_arrow()
        )
        pairs = zip(found["id"].to_pylist(), found["text"].to_pylist(), strict=True)
        return Answer([id_ for id_, text in pairs if text][:LIMIT])

    def close(self) -> None:
        """See `Peer`."""


def opened(folder: Path) -> Lance:
    """See `PeerModule`."""
    return Lance(folder)
