"""A small base of passages in a real retriever, behind a gateway with a real reranker."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from zlib import crc32

import numpy as np

from chassis.channel import open_channel
from chassis.metrics import Metrics
from gateway.application import Application, Services, assembled
from gateway.clients.reranker import RerankerClient
from gateway.clients.retriever import RetrieverClient
from gateway.documents import Document, FloatMatrix, Passage, VectorBlock
from gateway.mesh import Mesh
from gateway.switches.switching import Switching
from gateway.workspaces import WorkspaceSettings
from reranker_svc.service import running_reranker
from reranker_svc.settings import RerankerSettings
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.gateway_services.glossary import empty_board
from tests.fakes.gateway_services.jobs import FakeJobs
from tests.fakes.gateway_services.keys import open_access
from tests.fakes.gateway_services.models import FakeEmbedder, FakeRewriter
from tests.fakes.gateway_services.roles import FakeIngestion, FakeReembedding
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.gateway_services.switch_rules import FakeRuleStore

SPACE, STRAY_SPACE = "fake/words@1/24/l2/none", "fake/stray@1/24/l2/none"
WORDS = ("navire", "quai", "douane", "conteneur", "facture", "carreau", "gel", "retard", "port")
DOCUMENTS = 20


def vector_of(text: str, space_id: str) -> FloatMatrix:
    """Returns the sum of the vectors of a text's words, float32 of shape (24,)."""
    rows = [
        np.random.default_rng(crc32(f"{space_id} {word}".encode())).standard_normal(24)
        for word in text.split()
    ]
    return np.asarray(np.sum(rows, axis=0), np.float32)


async def _fill(retriever: RetrieverClient) -> None:
    """Twenty documents of three passages; every fifth in a second space, every seventh in none."""
    await retriever.create_workspace("negoce", WorkspaceSettings("fr", "structure", "default"))
    # Side by side, so that few commits hold them all.
    await asyncio.gather(*(_put(retriever, number) for number in range(DOCUMENTS)))


async def _put(retriever: RetrieverClient, number: int) -> None:
    """Stores one document, the same at every run."""
    rng = random.Random(number)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(3, 9))) for _ in range(3)]
    space_id = STRAY_SPACE if number % 5 == 1 else SPACE
    vectors = np.stack([vector_of(text, space_id) for text in texts])
    await retriever.upsert_document(
        "negoce",
        Document(
            f"{number:02}.md",
            f"Note {number}",
            category="even" if number % 2 == 0 else "odd",
            superseded=number % 3 == 0,
            content_hash=str(number),
        ),
        [Passage(index, text, embedded_text_hash=text) for index, text in enumerate(texts)],
        [] if number % 7 == 3 else [VectorBlock(space_id, vectors)],
    )


@asynccontextmanager
async def small_base(folder: Path, embedder: FakeEmbedder) -> AsyncIterator[Application]:
    """Yields the gateway; its rewriter adds a wording, and workspace "autre" is empty."""
    async with AsyncExitStack() as stack:
        retriever_server = await stack.enter_async_context(
            running_retriever(RetrieverSettings(port=0, data_folder=folder / "store"))
        )
        settings = RerankerSettings(port=0, drain_grace_s=0.0)
        reranker_server = await stack.enter_async_context(
            running_reranker(settings, metrics=Metrics())
        )
        retriever_channel, reranker_channel = [
            await stack.enter_async_context(open_channel(server.address, metrics=Metrics()))
            for server in (retriever_server, reranker_server)
        ]
        retriever = RetrieverClient(retriever_channel)
        await _fill(retriever)
        await retriever.create_workspace("autre", WorkspaceSettings("fr", "structure", "default"))
        services = Services(
            FakeRewriter(rewritten="retard livraison port"),
            embedder,
            retriever,
            RerankerClient(reranker_channel),
            FakeIngestion(),
            FakeJobs(),
            FakeReembedding(),
        )
        switches = Switching(SwitchDatabase(folder / "gateway.sqlite").board(), FakeRuleStore())
        yield assembled(services, switches, empty_board(), Mesh([], embedder), *open_access())
