"""Milvus Lite: a dense index and its own BM25 function, fused by the library itself.

Its write-ahead log is flushed once, at the end of the ingest.
"""

from pathlib import Path
from typing import Any

from pymilvus import (
    AnnSearchRequest,
    DataType,
    Function,
    FunctionType,
    MilvusClient,
    RRFRanker,
)

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

_COLLECTION = "passages"
_LONGEST_TEXT = 8_192


class MilvusLite:
    """Implements `Peer`."""

    hybrid = True

    def __init__(self, client: Any) -> None:
        self._client = client

    def ingest(self, corpus: SearchCorpus) -> None:
        """See `Peer`."""
        for ids in batches(corpus):
            rows = [
                {"id": id_, "text": corpus.texts[id_], "dense": corpus.vectors[id_]} for id_ in ids
            ]
            self._client.insert(_COLLECTION, rows)
        self._client.flush(_COLLECTION)
        self._client.load_collection(_COLLECTION)

    def search(self, question: Question) -> Answer:
        """See `Peer`."""
        requests = [
            AnnSearchRequest(
                [question.vector.tolist()],
                "dense",
                {"metric_type": "IP", "params": {"ef": SEARCH_BREADTH}},
                CANDIDATES,
            ),
            AnnSearchRequest([question.text], "words", {"metric_type": "BM25"}, CANDIDATES),
        ]
        found = self._client.hybrid_search(
            _COLLECTION,
            requests,
            RRFRanker(RANK_CONSTANT),
            limit=LIMIT,
            output_fields=["text"],
        )
        return Answer([hit["id"] for hit in found[0] if hit["entity"]["text"]])

    def close(self) -> None:
        """See `Peer`."""
        self._client.close()


def opened(folder: Path) -> MilvusLite:
    """See `PeerModule`."""
    folder.mkdir(parents=True, exist_ok=True)
    client: Any = MilvusClient(str(folder / "milvus.db"))
    if client.has_collection(_COLLECTION):
        client.load_collection(_COLLECTION)
        return MilvusLite(client)
    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("text", DataType.VARCHAR, max_length=_LONGEST_TEXT, enable_analyzer=True)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=WIDTH)
    schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(Function("bm25", FunctionType.BM25, ["text"], ["words"]))
    indexes = client.prepare_index_params()
    indexes.add_index(
        "dense",
        index_type="HNSW",
        metric_type="IP",
        params={"M": NEIGHBOURS, "efConstruction": CONSTRUCTION_BREADTH},
    )
    indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    client.create_collection(_COLLECTION, schema=schema, index_params=indexes)
    return MilvusLite(client)
