"""A retriever and an embedder behind sockets, with what fills spaces and what searches them.

    async with open_bench(folder, FIRST, SECOND) as bench:
        await bench.take_in("a", "le quai", "le navire")
        bench.embedder.break_down(FIRST)
        found = await bench.search("quai")

The embedder is a FakeEmbedder: its spaces are rotations of each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from chassis.channel import open_channel
from chassis.deadline import Deadline
from chassis.metrics import Metrics
from gateway.clients.embedder import EmbedderClient
from gateway.clients.retriever import RetrieverClient
from gateway.documents import Document, Passage, UpsertReport
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ingestion.chunking.embedded_text import embedded_text, embedded_text_hash
from gateway.ingestion.embedding_calls import BatchLimits, EmbeddingCalls
from gateway.ingestion.movers.mover import Mover
from gateway.ingestion.movers.mover_metrics import mover_metrics_of, window_metrics_of
from gateway.ingestion.movers.space_filling import SpaceFilling
from gateway.ingestion.movers.window_mover import WindowMover
from gateway.ingestion.passage_vectors import PassageVectors
from gateway.ingestion.passage_windows import PassageWindows, WindowChoice
from gateway.ingestion.reembedding.workspace_reembedding import WorkspaceReembedding
from gateway.known_workspaces import KnownWorkspaces
from gateway.pipeline import STAGE_ORDER, Retrieval, find_passages
from gateway.query_vectors import QueryVectors
from gateway.questions import Question
from gateway.receipt import StageReport
from gateway.reembedding import ReembeddingEvent, ReembeddingRequest
from gateway.stage_calls import SearchParts
from gateway.stages import Stages
from gateway.switches.values import SwitchValues
from gateway.workspaces import Workspace, WorkspaceSettings
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.embedder import FakeEmbedder, serving_fake_embedder
from tests.fakes.gateway_services.glossary import empty_board
from tests.fakes.gateway_services.models import FakeReranker, FakeRewriter

FIRST, SECOND = "first/model@1/24/l2/none", "second/model@1/24/l2/none"
TITLE = "Le port"
_SWITCHES = SwitchValues(query_rewrite_enabled=False, reranking_enabled=False)


@dataclass
class SpacesBench:
    """Workspace "w" of a retriever, and all that works on its spaces."""

    embedder: FakeEmbedder
    retriever: RetrieverClient
    client: EmbedderClient
    parts: SearchParts
    metrics: Metrics = field(default_factory=Metrics)
    reports: dict[str, StageReport] = field(default_factory=dict)

    def filling(self, *, batch_size: int = 32, windows: bool = False) -> SpaceFilling:
        """Returns what fills spaces, under a holder of its own."""
        calls = EmbeddingCalls(self.client, BatchLimits(texts=batch_size, calls=1))
        choice = WindowChoice.ALWAYS if windows else WindowChoice.OFF
        return SpaceFilling(
            self.retriever,
            PassageVectors(calls),
            PassageWindows(calls, choice),
            holder=str(uuid4()),
            batch_size=batch_size,
        )

    def mover(self, *, batch_size: int = 32, windows: bool = False) -> Mover:
        """Returns a mover that counts in `metrics`."""
        filling = self.filling(batch_size=batch_size, windows=windows)
        return Mover(self.retriever, self.client, filling, mover_metrics_of(self.metrics))

    def window_mover(self, *, batch_size: int = 4, **options: Any) -> WindowMover:
        """Returns a mover of windows, under a holder of its own."""
        return WindowMover(
            self.retriever,
            PassageWindows(EmbeddingCalls(self.client, BatchLimits(calls=1))),
            window_metrics_of(self.metrics),
            holder=str(uuid4()),
            batch_size=batch_size,
            **options,
        )

    def reembedding(
        self, *, batch_size: int = 2, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> WorkspaceReembedding:
        """Returns what embeds workspaces again, without windows."""
        return WorkspaceReembedding(
            self.retriever,
            self.client,
            lambda: self.filling(batch_size=batch_size),
            windowed=lambda _provider: False,
            pause=pause,
        )

    async def reembed(self, target: str = SECOND, **options: Any) -> list[ReembeddingEvent]:
        """Embeds the workspace again and returns all that was told."""
        request = ReembeddingRequest("w", target, **options)
        return [event async for event in self.reembedding().reembed(request)]

    async def take_in(self, external_id: str, *texts: str) -> UpsertReport:
        """Stores a document as the ingestion role does, one passage a text."""
        workspace = await self.workspace()
        passages = [_cut(index, text) for index, text in enumerate(texts)]
        vectors = PassageVectors(EmbeddingCalls(self.client))
        new = await vectors.of(passages, {}, workspace.preferred_space_id, "w", workspace.canaries)
        return await self.retriever.upsert_document(
            "w",
            Document(external_id, title=TITLE),
            [passage.passage for passage in passages],
            [new.block] if new.block is not None else [],
        )

    async def workspace(self) -> Workspace:
        """Describes the workspace."""
        return await self.retriever.describe_workspace("w")

    async def counts(self) -> dict[str, int]:
        """Returns the number of passages in each space."""
        return {one.space_id: one.passage_count for one in (await self.workspace()).spaces}

    async def search(self, query: str, limit: int = 8) -> Retrieval:
        """Searches through the gateway's pipeline; `reports` holds what its stages did."""
        stages = Stages(Deadline.after(30.0), STAGE_ORDER)
        question = Question("w", query, limit)
        try:
            return await find_passages(self.parts, question, _SWITCHES, stages)
        finally:
            self.reports = {report.stage: report for report in stages.reports()}

    def embedded_documents(self) -> list[str]:
        """Returns the texts that were answered, as often as each was."""
        return [text for text in self.embedder.embedded_texts if text.startswith(TITLE)]


@asynccontextmanager
async def open_bench(folder: Path, *space_ids: str) -> AsyncIterator[SpacesBench]:
    """Opens a bench with an empty workspace "w" over an embedder with these spaces."""
    async with AsyncExitStack() as stack:
        metrics = Metrics()
        settings = RetrieverSettings(port=0, data_folder=folder / "retriever")
        retriever_server = await stack.enter_async_context(running_retriever(settings))
        embedder = FakeEmbedder(*space_ids)
        address = await stack.enter_async_context(serving_fake_embedder(embedder))
        retriever = RetrieverClient(
            await stack.enter_async_context(open_channel(retriever_server.address, metrics=metrics))
        )
        client = EmbedderClient(
            await stack.enter_async_context(open_channel(address, metrics=metrics))
        )
        await retriever.create_workspace("w", WorkspaceSettings())
        parts = SearchParts(
            FakeRewriter(),
            retriever,
            FakeReranker(),
            QueryVectors(client),
            KnownWorkspaces(retriever),
            empty_board(),
        )
        yield SpacesBench(embedder, retriever, client, parts)


def _cut(index: int, text: str) -> CutPassage:
    embedded = embedded_text((TITLE,), text)
    passage = Passage(
        index,
        text,
        token_estimate=len(text.split()),
        embedded_text_hash=embedded_text_hash(embedded),
    )
    return CutPassage(passage, embedded, 0, 0, title=TITLE)
