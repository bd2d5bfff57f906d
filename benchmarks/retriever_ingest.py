"""How fast passages with given vectors are taken in, against a plain loop over the libraries.

The loop does the least that leaves the same three things behind: rows and vectors in SQLite
(synchronous=FULL), a BM25 index in tantivy, an HNSW graph in FAISS. It checks, replaces and
answers nothing.
"""

import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss as typed_faiss
import tantivy

from benchmarks.retriever_corpus import WIDTH
from benchmarks.retriever_folder import filled_folder, upserts
from retriever_svc.documents import DocumentUpsert

faiss: Any = typed_faiss
# As many documents as the engine commits together under this load.
_BATCH = 64


def measure(quick: bool) -> dict[str, float]:
    """Returns passages a second and their ratio."""
    count = 20_000 if quick else 100_000
    plain_s = _plain_loop(upserts(count))
    engine = filled_folder(count)
    return {
        "plain loop, passages/s": count / plain_s,
        "engine, all acknowledged, passages/s": count / engine.acknowledged_s,
        "engine, graphs there as well, passages/s": count / engine.graphs_s,
        "engine with graphs / plain loop": plain_s / engine.graphs_s,
    }


def _plain_loop(documents: Sequence[DocumentUpsert]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        store = sqlite3.connect(Path(folder) / "store.sqlite3", isolation_level=None)
        store.execute("PRAGMA page_size = 16384")
        store.execute("PRAGMA journal_mode = WAL").fetchone()
        store.execute("PRAGMA synchronous = FULL")
        store.execute("CREATE TABLE passages (id INTEGER PRIMARY KEY, text TEXT, vector BLOB)")
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("id", stored=False, indexed=True, fast=True)
        builder.add_text_field("body", stored=False, index_option="freq")
        lexical_path = Path(folder) / "lexical"
        lexical_path.mkdir()
        lexical = tantivy.Index(builder.build(), path=str(lexical_path))
        writer = lexical.writer(heap_size=32_000_000, num_threads=1)
        graph = faiss.IndexHNSWFlat(WIDTH, 16, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = 100
        for first in range(0, len(documents), _BATCH):
            batch = documents[first : first + _BATCH]
            store.execute("BEGIN")
            for document in batch:
                vectors = document.vectors[0].vectors
                numbered = enumerate(document.passages, start=int(graph.ntotal))
                for (number, passage), row in zip(numbered, vectors, strict=True):
                    store.execute(
                        "INSERT INTO passages VALUES (?, ?, ?)",
                        (number, passage.text, row.tobytes()),
                    )
                    entry = tantivy.Document()
                    entry.add_integer("id", number)
                    entry.add_text("body", passage.text)
                    writer.add_document(entry)
                graph.add(vectors)
            store.execute("COMMIT")
            writer.commit()
        lexical.reload()
        store.close()
        return time.perf_counter() - started
