"""Keeps the state of a document that a file replaces, as a document of its own.

Its id is that of the document, "@" and its version, or where it has none, or the same as the new
one, the moment at which it was stored. It is marked superseded, and holds until the new one does.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from chassis.errors import NotFound
from gateway.document_jobs import DocumentJobState
from gateway.documents import Document, StoredDocument
from gateway.incoming_files import IncomingFile
from gateway.ingestion.document_ingestion import DocumentIngestion, Intention

_TIMEOUT_S = 10.0
_SHA256_LENGTH = 64


@dataclass(frozen=True, slots=True)
class PreviousVersions:
    """Takes the kept file of a document in once more, under another id."""

    ingestion: DocumentIngestion
    folder: Path
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def keep(self, file: IncomingFile, sha256: str) -> None:
        """Keeps what a file of this SHA-256 is about to replace; it is searchable then.

        Equal bytes are no other version, whatever is said about them. Doing it again changes
        nothing. NotFound where the file of the present state was not kept.
        """
        external_id = file.document_id
        stored = await self._stored(file.workspace, external_id)
        if stored is None or stored.document.content_hash[:_SHA256_LENGTH] == sha256:
            return
        kept_sha256 = stored.document.content_hash[:_SHA256_LENGTH]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            original = await asyncio.to_thread(
                self.ingestion.originals.fetch,
                file.workspace,
                external_id,
                kept_sha256,
                Path(folder),
            )
            earlier = replace(
                original.file,
                workspace=file.workspace,
                external_id=f"{external_id}@{_label(stored, file)}",
                superseded=True,
                keep_previous=False,
                valid_until=self._end(stored.document, file),
            )
            await self.ingestion.take_in(earlier, original.received, _Unnoted())

    async def _stored(self, workspace: str, external_id: str) -> StoredDocument | None:
        try:
            return await self.ingestion.store.get_document(
                workspace, external_id, timeout=_TIMEOUT_S
            )
        except NotFound:
            return None

    def _end(self, document: Document, file: IncomingFile) -> datetime | None:
        """Returns when the earlier state ends to hold: when the new one begins, now at the latest
        known; what was said of it stays where that is earlier."""
        end = file.valid_from or self.now()
        if document.valid_until is not None:
            end = min(end, document.valid_until)
        begun = document.valid_from
        return end if begun is None or begun < end else document.valid_until


def _label(stored: StoredDocument, file: IncomingFile) -> str:
    version = stored.document.version
    if version and version != file.version:
        return version
    moment = stored.update_time or datetime.fromtimestamp(0, UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Unnoted:
    """Steps that nobody follows: the task is the new file's."""

    @property
    def intention(self) -> Intention | None:
        """Nothing is known of earlier attempts."""
        return None

    async def advance(
        self,
        state: DocumentJobState,
        *,
        passage_count: int = 0,
        intention: Intention | None = None,
    ) -> None:
        """Notes nothing."""

    @asynccontextmanager
    async def committing(self) -> AsyncIterator[None]:
        """Surrounds the step that shows."""
        yield
