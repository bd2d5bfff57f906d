"""A retriever's data folder full of passages, made once a run, and processes that open it."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.retriever_corpus import PASSAGES_PER_DOCUMENT, SPACE, texts, vectors
from retriever_svc.documents import Document, DocumentUpsert, Passage, PassageVectors
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.workspaces import WorkspaceSettings

WORKSPACE = "bench"
_IN_FLIGHT = 64


@dataclass(frozen=True, slots=True)
class FilledFolder:
    """Holds a folder and how long it took to fill it."""

    handle: "tempfile.TemporaryDirectory[str]"
    acknowledged_s: float
    graphs_s: float
    """Seconds until the graphs were there as well."""

    @property
    def path(self) -> Path:
        """The data folder."""
        return Path(self.handle.name) / "data"


def upserts(count: int) -> list[DocumentUpsert]:
    """Returns documents of ten passages each."""
    rows, words = vectors(count), texts(count)
    positions = np.arange(PASSAGES_PER_DOCUMENT)
    return [
        DocumentUpsert(
            WORKSPACE,
            Document(f"d{first}", title=f"titre {first}", content_hash=f"h{first}"),
            tuple(
                Passage(index, words[first + index], embedded_text_hash=f"{first + index}")
                for index in range(PASSAGES_PER_DOCUMENT)
            ),
            (PassageVectors(SPACE, positions, rows[first : first + PASSAGES_PER_DOCUMENT]),),
        )
        for first in range(0, count, PASSAGES_PER_DOCUMENT)
    ]


@cache
def filled_folder(count: int) -> FilledFolder:
    """Fills a folder with so many passages through the engine."""
    documents = upserts(count)
    # Removed when the process ends.
    handle = tempfile.TemporaryDirectory(prefix="retriever-bench-")
    started = time.perf_counter()
    engine = EmbeddedEngine(EmbeddedSettings(Path(handle.name) / "data"))
    try:
        asyncio.run(_put(engine, documents))
        acknowledged = time.perf_counter() - started
        engine.wait_for_graphs()
        graphs = time.perf_counter() - started
    finally:
        engine.close()
    return FilledFolder(handle, acknowledged, graphs)


def opened_elsewhere(path: Path) -> dict[str, float]:
    """Opens the folder in a process of its own; returns what `retriever_start` prints."""
    command: Sequence[str] = (sys.executable, "-m", "benchmarks.retriever_start", str(path))
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


async def _put(engine: EmbeddedEngine, documents: Sequence[DocumentUpsert]) -> None:
    await engine.create_workspace(WORKSPACE, WorkspaceSettings())
    waiting = asyncio.Semaphore(_IN_FLIGHT)

    async def put(document: DocumentUpsert) -> None:
        async with waiting:
            await engine.upsert_document(document)

    await asyncio.gather(*(put(document) for document in documents))
