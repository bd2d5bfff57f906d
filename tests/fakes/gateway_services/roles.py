"""The ingestion role and the health of any service, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.reembedding import ReembeddingEvent, ReembeddingRequest
from tests.fakes.gateway_services.behaviour import Behaviour
from tests.fakes.gateway_services.spaces import SPACE


@dataclass
class FakeIngestion:
    """Takes files in and remembers their bytes."""

    behaviour: Behaviour = field(default_factory=Behaviour)
    taken: list[tuple[IncomingFile, bytes]] = field(default_factory=list)
    rechunked: list[tuple[str, str]] = field(default_factory=list)
    forgotten: list[tuple[str, str]] = field(default_factory=list)

    async def ingest_document(
        self, file: IncomingFile, content: AsyncIterator[bytes], *, timeout: float | None = None
    ) -> IngestionReport:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        received = b"".join([chunk async for chunk in content])
        self.taken.append((file, received))
        return IngestionReport(
            IngestionOutcome.CREATED,
            file.external_id or file.file_name,
            file.title or "Titre",
            passage_count=2,
            space_id=SPACE.space_id,
            warnings=("one remark",),
        )

    async def rechunk_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> IngestionReport:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        self.rechunked.append((workspace, external_id))
        return IngestionReport(IngestionOutcome.REPLACED, external_id, "Titre", passage_count=3)

    async def delete_originals(
        self, workspace: str, external_id: str = "", *, timeout: float | None = None
    ) -> int:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        self.forgotten.append((workspace, external_id))
        return 1


@dataclass
class FakeReembedding:
    """Tells the events it was given, then waits if it `hangs`, or raises `failure`."""

    events: list[ReembeddingEvent] = field(default_factory=list)
    failure: Exception | None = None
    hangs: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[ReembeddingRequest] = field(default_factory=list)
    closed: int = 0

    async def reembed(self, request: ReembeddingRequest) -> AsyncGenerator[ReembeddingEvent, None]:
        """Implements the port."""
        self.requests.append(request)
        try:
            for event in self.events:
                yield event
            if self.hangs:
                await asyncio.Event().wait()
            if self.failure is not None:
                raise self.failure
        finally:
            self.closed += 1
            self.ended.set()


@dataclass
class FakeHealth:
    """Says that it is serving, or not, or nothing."""

    healthy: bool = True
    behaviour: Behaviour = field(default_factory=Behaviour)

    async def serving(self, *, timeout: float | None = None) -> bool:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        return self.healthy
