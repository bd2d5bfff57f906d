"""Engines whose deletions are purged soon, and documents that leave traces of their own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import CollectorRegistry

from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.embedded_engines import SMALL
from tests.fakes.retrieval import passage_vectors, unit_rows, upsert
from tests.fakes.snapshot_folders import counted

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
HOURS_4 = 14_400.0
SOON = 0.2
PER_DOCUMENT = 10
WIDTH = 16
ROWS = unit_rows(400, WIDTH, seed=6)


@asynccontextmanager
async def engine_over(
    data: Path,
    within_s: float,
    *,
    now: datetime = NOW,
    registry: CollectorRegistry | None = None,
) -> AsyncIterator[EmbeddedEngine]:
    """Opens an engine with graphs from a hundred vectors on, at a moment that stands still."""
    settings = EmbeddedSettings(
        data, dense=replace(SMALL, dead_share_limit=1.0), purge_within_s=within_s
    )
    engine = await asyncio.to_thread(EmbeddedEngine, settings, now=lambda: now, registry=registry)
    try:
        yield engine
    finally:
        await asyncio.to_thread(engine.close)


def word(number: int) -> str:
    """Returns a word that only one passage holds, and that analysis leaves as it is."""
    return f"zq{number}x{number * 7919}"


async def put(engine: EmbeddedEngine, documents: Iterable[int], *, shift: int = 0) -> None:
    """Stores documents of ten passages, each with a word and a vector of its own."""
    for document in documents:
        first = document * PER_DOCUMENT
        numbers = range(first, first + PER_DOCUMENT)
        vectors = passage_vectors(ROWS[[number + shift for number in numbers]].tolist())
        texts = [f"passage {word(number + shift)}" for number in numbers]
        await engine.upsert_document(
            upsert(f"d{document}", texts, title=f"titre{word(first + shift)}", vectors=[vectors])
        )


async def fill(engine: EmbeddedEngine, documents: int = 20) -> None:
    """Creates the workspace with so many documents, and waits for the graph."""
    await engine.create_workspace("docs", WorkspaceSettings())
    await put(engine, range(documents))
    assert await asyncio.to_thread(engine.wait_for_graphs, 60)


def traces(documents: Iterable[int], *, shift: int = 0) -> list[bytes]:
    """Returns the byte strings that only these documents brought: words, titles, vectors."""
    numbers = [
        number + shift
        for document in documents
        for number in range(document * PER_DOCUMENT, (document + 1) * PER_DOCUMENT)
    ]
    return [
        *(word(number).encode() for number in numbers),
        *(ROWS[number].tobytes()[:32] for number in numbers),
    ]


async def until(condition: Callable[[], bool]) -> None:
    """Waits until the condition holds, a minute at most."""
    for _ in range(3_000):
        if await asyncio.to_thread(condition):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came true")


async def wait_for_purges(registry: CollectorRegistry, count: int = 1) -> None:
    """Waits until so many purges have ended."""
    await until(lambda: counted(registry, "purged") >= count)
