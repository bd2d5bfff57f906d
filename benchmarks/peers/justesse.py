"""The retriever's engine in process: documents of ten passages, 64 of them on their way.

Every change is on the disk (SQLite with synchronous=FULL) before it is acknowledged.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import uvloop

from benchmarks.peers.peer import BATCH, CANDIDATES, LIMIT, Answer
from benchmarks.retriever_corpus import PASSAGES_PER_DOCUMENT, SPACE
from benchmarks.search_corpus import Question, SearchCorpus
from retriever_svc.documents import Document, DocumentUpsert, Passage, PassageVectors
from retriever_svc.embedded.dense.dense_settings import DenseSettings, VectorStorage
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import QueryVariant, SearchRequest
from retriever_svc.workspaces import WorkspaceSettings

WORKSPACE = "bench"
_IN_FLIGHT = BATCH // PASSAGES_PER_DOCUMENT


class Justesse:
    """Implements `Peer`."""

    hybrid = True

    def __init__(self, folder: Path, settings: DenseSettings | None = None) -> None:
        self._loop = uvloop.new_event_loop()
        self.engine = EmbeddedEngine(EmbeddedSettings(folder, dense=settings or DenseSettings()))
        # As a retriever begins: from its snapshot, where there is one.
        self.engine.wait_for_graphs()

    def ingest(self, corpus: SearchCorpus) -> None:
        """See `Peer`."""
        self.create()
        self.put(upserts(corpus))
        self.engine.wait_for_graphs()

    def create(self) -> None:
        """Creates the workspace."""
        self._loop.run_until_complete(self._create())

    def put(self, documents: Iterable[DocumentUpsert]) -> None:
        """Stores documents; returns when all are acknowledged."""
        self._loop.run_until_complete(self._put(documents))

    def search(self, question: Question) -> Answer:
        """See `Peer`."""
        result = self._loop.run_until_complete(
            self.engine.search_passages(search_request(question))
        )
        ids = [passage_number(hit.document, hit.passage) for hit in result.hits]
        return Answer(ids, result.latency_ms / 1e3)

    def close(self) -> None:
        """See `Peer`."""
        self.engine.close()
        self._loop.close()

    async def _create(self) -> None:
        await self.engine.create_workspace(WORKSPACE, WorkspaceSettings())

    async def _put(self, documents: Iterable[DocumentUpsert]) -> None:
        waiting = asyncio.Semaphore(_IN_FLIGHT)

        async def put(document: DocumentUpsert) -> None:
            async with waiting:
                await self.engine.upsert_document(document)

        await asyncio.gather(*(put(document) for document in documents))


class JustesseInt8(Justesse):
    """The same with graphs that hold vectors as int8."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, DenseSettings(vector_storage=VectorStorage.INT8))


def upserts(corpus: SearchCorpus) -> list[DocumentUpsert]:
    """Returns documents of ten passages; document d of passages 10 d to 10 d + 9 is named "d"."""
    positions = np.arange(PASSAGES_PER_DOCUMENT)
    return [
        DocumentUpsert(
            WORKSPACE,
            Document(str(first // PASSAGES_PER_DOCUMENT), title=f"titre {first}"),
            tuple(
                Passage(place, corpus.texts[first + place], embedded_text_hash=f"{first + place}")
                for place in range(PASSAGES_PER_DOCUMENT)
            ),
            (
                PassageVectors(
                    SPACE, positions, corpus.vectors[first : first + PASSAGES_PER_DOCUMENT]
                ),
            ),
        )
        for first in range(0, len(corpus.texts), PASSAGES_PER_DOCUMENT)
    ]


def passage_number(document: Document, passage: Passage) -> int:
    """Returns the place of a passage in the corpus."""
    return int(document.external_id) * PASSAGES_PER_DOCUMENT + passage.chunk_index


def search_request(question: Question) -> SearchRequest:
    """Returns the hybrid search for a question."""
    variant = QueryVariant(question.text, vectors={SPACE: question.vector})
    return SearchRequest(WORKSPACE, (variant,), candidate_count=CANDIDATES, limit=LIMIT)


def opened(folder: Path) -> Justesse:
    """See `PeerModule`."""
    return Justesse(folder)
