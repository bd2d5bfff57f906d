"""Documents whose files were kept: sent again by ourselves, and forgotten with them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from chassis.errors import FailedPrecondition, NotFound
from gateway.document_jobs import SubmittedFile
from gateway.ingestion.originals import Originals
from gateway.ingestion.passage_store import PassageStore

_TIMEOUT_S = 10.0
_PIECE_BYTES = 1024 * 1024
_SHA256_LENGTH = 64


@dataclass(frozen=True, slots=True)
class KeptDocuments:
    """Brings originals to `folder` where they are needed."""

    store: PassageStore
    originals: Originals
    folder: Path

    @asynccontextmanager
    async def opened(self, workspace: str, external_id: str) -> AsyncIterator[SubmittedFile]:
        """Yields the file that a document is made of, as if it were sent again.

        NotFound where there is no such document, or its file was not kept.
        """
        stored = await self.store.get_document(workspace, external_id, timeout=_TIMEOUT_S)
        sha256 = stored.document.content_hash[:_SHA256_LENGTH]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            original = await asyncio.to_thread(
                self.originals.fetch, workspace, external_id, sha256, Path(folder)
            )
            yield SubmittedFile(original.file, _content(original.received.path), only_over=sha256)

    async def delete(self, workspace: str, external_id: str) -> int:
        """Deletes the files of a document, or without an id of a workspace; returns how many.

        FailedPrecondition where it is still there: files go after what was made of them.
        """
        with suppress(NotFound):
            if external_id:
                await self.store.get_document(workspace, external_id, timeout=_TIMEOUT_S)
            else:
                await self.store.describe_workspace(workspace, timeout=_TIMEOUT_S)
            what = f"document {external_id!r}" if external_id else f"workspace {workspace!r}"
            raise FailedPrecondition(
                f"{what} is still there; delete it, and its files go with it",
                reason="STILL_THERE",
            )
        if external_id:
            return await asyncio.to_thread(self.originals.remove_document, workspace, external_id)
        return await asyncio.to_thread(self.originals.remove_workspace, workspace)


async def _content(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece
