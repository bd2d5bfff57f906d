"""How soon a new document is found, against the least that can be done for it.

A document of one passage is sent to an engine that holds passages already, and looked for as soon
as it is acknowledged: it is on the disk and in all indexes then. The least is to commit the text
to SQLite (synchronous=FULL) and to a bare tantivy index of the same passages, to load that again
and to look. Both wait for the same disk, one document each in turn.
"""

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tantivy

from benchmarks.interleaving import Figures, spread
from benchmarks.peers.peer import BATCH
from benchmarks.search_corpus import search_corpus
from retriever_svc.documents import Document, DocumentUpsert, Passage
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.lexical.lexical_settings import LexicalSettings
from retriever_svc.searches import QueryVariant, SearchMode, SearchRequest
from retriever_svc.workspaces import WorkspaceSettings

_ROUNDS, _ROUND_DOCUMENTS = 12, 10


def measure(quick: bool) -> Figures:
    """Returns milliseconds until a document is found, and ratios to the least."""
    texts = search_corpus(2_000 if quick else 20_000).texts
    with tempfile.TemporaryDirectory() as folder:
        least = _Least(Path(folder), texts)
        try:
            return asyncio.run(_measured(Path(folder) / "engine", texts, least))
        finally:
            least.close()


async def _measured(path: Path, texts: Sequence[str], least: "_Least") -> Figures:
    engine = EmbeddedEngine(EmbeddedSettings(path))
    ours: list[list[float]] = []
    bare: list[list[float]] = []
    try:
        await engine.create_workspace("bench", WorkspaceSettings())
        for first in range(0, len(texts), BATCH):
            passages = tuple(
                Passage(at, text) for at, text in enumerate(texts[first : first + BATCH])
            )
            await engine.upsert_document(DocumentUpsert("bench", Document(f"{first}"), passages))
        for number in range(_ROUNDS):
            words = [f"neuf{number}x{place}" for place in range(_ROUND_DOCUMENTS)]
            ours.append([await _found(engine, word) for word in words])
            bare.append([least.found(word) for word in words])
    finally:
        engine.close()
    waits = sorted(wait for one in ours for wait in one)
    least_waits = sorted(wait for one in bare for wait in one)
    ratios = [
        statistics.median(own) / statistics.median(other)
        for own, other in zip(ours, bare, strict=True)
    ]
    return {
        "visible: p50, ms": statistics.median(waits) * 1e3,
        "visible: p95, ms": statistics.quantiles(waits, n=20)[-1] * 1e3,
        "least: p50, ms": statistics.median(least_waits) * 1e3,
        "least: p95, ms": statistics.quantiles(least_waits, n=20)[-1] * 1e3,
        **spread("visible / least", ratios),
    }


async def _found(engine: EmbeddedEngine, word: str) -> float:
    request = SearchRequest("bench", (QueryVariant(word),), mode=SearchMode.LEXICAL)
    started = time.perf_counter()
    await engine.upsert_document(
        DocumentUpsert("bench", Document(word), (Passage(0, f"le mot {word}"),))
    )
    result = await engine.search_passages(request)
    waited = time.perf_counter() - started
    if [hit.document.external_id for hit in result.hits] != [word]:
        raise RuntimeError(f"{word!r} was acknowledged and is not found")
    return waited


class _Least:
    """A table of texts and an index of their words."""

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self._store = sqlite3.connect(folder / "least.sqlite3", isolation_level=None)
        self._store.execute("PRAGMA journal_mode = WAL").fetchone()
        self._store.execute("PRAGMA synchronous = FULL")
        self._store.execute("CREATE TABLE passages (text TEXT)")
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", stored=False, index_option="freq")
        self._schema: Any = builder.build()
        path = folder / "least"
        path.mkdir()
        self._index: Any = tantivy.Index(self._schema, path=str(path))
        heap = LexicalSettings().writer_heap_bytes
        self._writer: Any = self._index.writer(heap_size=heap, num_threads=1)
        for text in texts:
            self._writer.add_document(tantivy.Document(body=text))
        self._writer.commit()

    def found(self, word: str) -> float:
        """Adds a text; returns the seconds until it was found."""
        text = f"le mot {word}"
        started = time.perf_counter()
        self._store.execute("INSERT INTO passages VALUES (?)", (text,))
        self._writer.add_document(tantivy.Document(body=text))
        self._writer.commit()
        self._index.reload()
        query = tantivy.Query.term_query(self._schema, "body", word, "freq")
        hits = self._index.searcher().search(query, 1, count=False).hits
        waited = time.perf_counter() - started
        if not hits:
            raise RuntimeError(f"{word!r} was committed and is not found")
        return waited

    def close(self) -> None:
        """Closes the files."""
        self._store.close()
        self._writer.wait_merging_threads()
