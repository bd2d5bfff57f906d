"""The ingestion over fakes, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from chassis.metrics import Metrics
from gateway.incoming_files import IncomingFile, IngestionReport
from gateway.ingestion.embedding_calls import EmbeddingCalls
from gateway.ingestion.queued_ingestion import QueuedIngestion
from gateway.ingestion.running_jobs import running_jobs
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

    ingestion: QueuedIngestion
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
        """Files that were received and not given up, by the folder that they lie in.

        Descriptions of originals are left out.
        """
        return [
            name
            for name in ("incoming", "originals", "received")
            for path in (self.folder / name).rglob("*")
            if path.is_file() and path.suffix != ".json"
        ]


@asynccontextmanager
async def open_desk(folder: Path) -> AsyncIterator[Desk]:
    """Opens a fresh desk."""
    embedder, store = ChainedEmbedder(), FakePassageStore()
    store.add_workspace("w")
    settings = desk_settings(folder)
    calls = EmbeddingCalls(embedder, settings.batch_limits())
    async with running_jobs(settings, embedder, calls, store, metrics=Metrics()) as queued:
        yield Desk(queued, embedder, store, folder)


def desk_settings(folder: Path, **changes: object) -> IngestionSettings:
    """Settings with all data below a folder, one parser, and a single attempt at each file."""
    return IngestionSettings.model_validate(
        {
            "port": 0,
            "data_folder": folder,
            "database_url": f"sqlite+aiosqlite:///{folder / 'gateway.sqlite'}",
            "parser_processes": 1,
            "job_attempts": 1,
            "windows_first": True,
            **changes,
        }
    )
