"""The ingestion over fakes, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.incoming_files import IncomingFile, IngestionReport
from gateway.ingestion.document_ingestion import DocumentIngestion
from gateway.ingestion.embedding_calls import EmbeddingCalls
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.service import assembled
from gateway.ingestion.settings import IngestionSettings
from tests.fakes.chained_embedder import ChainedEmbedder
from tests.fakes.passage_store import FakePassageStore

GUIDE = "# Guide\n\nLe navire attend au large.\n"
LONG = "\n\n".join(
    f"## Partie {n}\n\n" + f"La phrase {n} parle du quai et du navire. " * 40 for n in range(4)
)


@dataclass
class Desk:
    """The ingestion over fakes, with a workspace "w"."""

    ingestion: DocumentIngestion
    embedder: ChainedEmbedder
    store: FakePassageStore
    folder: Path

    async def take_in(
        self, content: str | bytes = GUIDE, name: str = "guide.md", **fields: object
    ) -> IngestionReport:
        """Has a file taken in."""
        data = content.encode() if isinstance(content, str) else content

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(data), 1024):
                yield data[start : start + 1024]

        file = IncomingFile("w", name)
        return await self.ingestion.ingest_document(
            replace(file, **fields),  # type: ignore[arg-type] # by field name
            pieces(),
        )

    def files(self) -> list[str]:
        """Everything in the data folder, from its root."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).parts[0] for path in paths)


@asynccontextmanager
async def open_desk(folder: Path) -> AsyncIterator[Desk]:
    """Opens a fresh desk."""
    embedder, store = ChainedEmbedder(), FakePassageStore()
    store.add_workspace("w")
    processes = ExtractionProcesses(ExtractionLimits(), count=1)
    settings = IngestionSettings(data_folder=folder, windows_first=True)
    try:
        calls = EmbeddingCalls(embedder, settings.batch_limits())
        ingestion = assembled(settings, embedder, calls, store, processes)
        yield Desk(ingestion, embedder, store, folder)
    finally:
        await processes.close()
