"""A served ingestion role over fakes, and its jobs over a channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from chassis.channel import open_channel
from chassis.metrics import Metrics
from gateway.clients.ingestion import IngestionClient
from gateway.clients.jobs import JobsClient
from gateway.document_jobs import DocumentJob, SubmittedFile
from gateway.incoming_files import IncomingFile
from gateway.ingestion.service import running_ingestion
from tests.fakes.chained_embedder import ChainedEmbedder
from tests.fakes.ingestion_desk import desk_settings
from tests.fakes.passage_store import FakePassageStore

LIMIT = 1000


@dataclass
class Role:
    """A served ingestion role, its jobs over a channel, and what lies on its disk."""

    jobs: JobsClient
    ingestion: IngestionClient
    store: FakePassageStore
    embedder: ChainedEmbedder
    folder: Path
    metrics: Metrics

    async def submit(
        self, *files: tuple[str, bytes], workspace: str = "w", sizes: Sequence[int] = ()
    ) -> DocumentJob:
        """Submits files by name and content; `sizes` announces other sizes than their own."""

        async def stream() -> AsyncIterator[SubmittedFile]:
            for place, (name, data) in enumerate(files):
                size = sizes[place] if sizes else len(data)
                yield SubmittedFile(IncomingFile(workspace, name, byte_count=size), in_parts(data))

        return await self.jobs.submit_documents(stream())

    async def finished(self, job: DocumentJob) -> DocumentJob:
        """Waits for the end of a job and returns it with all its files."""
        async with asyncio.timeout(20):
            async for _ in self.jobs.watch_job("w", job.job_id):
                continue
        return await self.jobs.get_job("w", job.job_id)

    def hold_embedder(self) -> None:
        """Lets every embedding from now on wait for ever."""

        async def hang(*_: object, **__: object) -> None:
            await asyncio.Event().wait()

        self.embedder.embed = hang  # type: ignore[assignment, method-assign]

    def received(self) -> list[str]:
        """Names of the files that jobs still need, or that are on their way."""
        return [
            path.name
            for name in ("received", "incoming")
            for path in (self.folder / name).iterdir()
        ]


async def in_parts(data: bytes) -> AsyncIterator[bytes]:
    """Yields bytes in small parts."""
    for start in range(0, len(data), 16):
        yield data[start : start + 16]


@asynccontextmanager
async def running_role(
    folder: Path, store: FakePassageStore, **settings: object
) -> AsyncIterator[Role]:
    """Serves a role over a folder."""
    embedder, metrics = ChainedEmbedder(), Metrics()
    values = {"max_file_bytes": LIMIT, "drain_grace_s": 0, **settings}
    async with (
        running_ingestion(
            desk_settings(folder, **values), embedder=embedder, store=store, metrics=metrics
        ) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield Role(JobsClient(channel), IngestionClient(channel), store, embedder, folder, metrics)
