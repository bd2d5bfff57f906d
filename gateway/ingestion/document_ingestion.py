"""Takes received files in: extracts, cuts, embeds and stores them, each in one step."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

import structlog

from chassis.errors import FailedPrecondition, NotFound, ResourceExhausted, ServiceError
from gateway.document_jobs import DocumentJobState
from gateway.documents import Document, StoredDocument, UpsertReport
from gateway.incoming_files import IncomingFile, IngestionOutcome, IngestionReport
from gateway.ingestion.chunking.chunker import CutPassage, cut
from gateway.ingestion.chunking.profiles import ChunkingProfile
from gateway.ingestion.description import check_description, described, fingerprint
from gateway.ingestion.extraction.blocks import Extraction
from gateway.ingestion.extraction.process import ExtractionProcesses
from gateway.ingestion.extraction.read_pages import ReadPagesFolder
from gateway.ingestion.extraction.registry import suffix_of
from gateway.ingestion.language import document_language
from gateway.ingestion.originals import Originals
from gateway.ingestion.passage_store import PassageStore
from gateway.ingestion.passage_vectors import NewVectors, PassageVectors, StoredSpaces
from gateway.ingestion.passage_windows import PassageWindows
from gateway.ingestion.received_files import ReceivedFile
from gateway.ingestion.reports import places, refusals_named, report_of
from gateway.ingestion.token_rates import TokenRates
from gateway.ingestion.workspace_profile import cutting_of, profile_of
from gateway.workspaces import Workspace

_log = structlog.get_logger("gateway.ingestion")

INCOMPLETE = ":incomplete"
"""Ends the content hash of a document that lacks vectors: the same file again completes it."""

_READ_TIMEOUT_S = 10.0
_WRITE_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Intention:
    """What an attempt is about to store: the content hash, and whether it replaces something."""

    content_hash: str
    replaces: bool


class Steps(Protocol):
    """Is told how far a file is."""

    @property
    def intention(self) -> Intention | None:
        """What an earlier attempt was about to store, None where there was none."""
        ...

    async def advance(
        self,
        state: DocumentJobState,
        *,
        passage_count: int = 0,
        intention: Intention | None = None,
    ) -> None:
        """Notes that a step begins; an error ends the work."""
        ...

    def committing(self) -> AbstractAsyncContextManager[None]:
        """Surrounds the step that shows, which nobody interrupts."""
        ...


@dataclass(frozen=True, slots=True)
class _Job:
    """One file on its way; `external_id` names its document."""

    file: IncomingFile
    external_id: str
    suffix: str
    workspace: Workspace
    profile: ChunkingProfile
    received: ReceivedFile
    only_over: str


@dataclass(frozen=True, slots=True)
class DocumentIngestion:
    """Takes files of a workspace in; files of one document are to be taken in one by one."""

    store: PassageStore
    vectors: PassageVectors
    windows: PassageWindows
    rates: TokenRates
    processes: ExtractionProcesses
    read_pages: ReadPagesFolder
    originals: Originals

    async def take_in(
        self, file: IncomingFile, received: ReceivedFile, steps: Steps, *, only_over: str = ""
    ) -> IngestionReport:
        """Takes one file in; committed and searchable once this returns.

        `steps` is told how far the file is. A task that is cancelled leaves the document as it was,
        and ends the process that reads the file. With `only_over`, a SHA-256, it is taken in only
        while its document is made of that file: FailedPrecondition where it is not.
        """
        check_description(file)
        with refusals_named(file.file_name):
            suffix = suffix_of(file.file_name)
        workspace = await self.store.describe_workspace(file.workspace, timeout=_READ_TIMEOUT_S)
        profile = profile_of(workspace)
        external_id = file.document_id
        job = _Job(file, external_id, suffix, workspace, profile, received, only_over)
        return await self._take_in(job, steps)

    async def _take_in(self, job: _Job, steps: Steps) -> IngestionReport:
        settings = job.workspace.settings
        content_hash = fingerprint(
            job.file,
            job.external_id,
            job.received.sha256,
            cutting_of(job.workspace),
            settings.language,
        )
        stored = await self._current(job)
        if stored is not None and stored.document.content_hash == content_hash:
            return IngestionReport(
                _outcome_of_equal(content_hash, steps.intention),
                job.external_id,
                stored.document.title,
                stored.passage_count,
            )
        started = perf_counter()
        with refusals_named(job.file.file_name):
            extraction = await self.processes.extract(
                job.received.path, job.suffix, self.read_pages.of(job.received.sha256)
            )
        extracted = perf_counter()
        await steps.advance(DocumentJobState.CHUNKING)
        document, passages, warnings = await self._cut(job, extraction)
        cut_at = perf_counter()
        await steps.advance(
            DocumentJobState.EMBEDDING,
            passage_count=len(passages),
            intention=steps.intention or Intention(content_hash, stored is not None),
        )
        spaces = await self._stored_spaces(job) if stored is not None else {}
        new = await self.vectors.of(
            passages,
            spaces,
            job.workspace.preferred_space_id,
            job.workspace.slug,
            job.workspace.canaries,
        )
        new = await self.windows.added_to(new, passages, job.workspace.slug, job.workspace.canaries)
        embedded = perf_counter()
        document = replace(document, chunking_profile=cutting_of(job.workspace))
        async with steps.committing():
            if job.only_over:
                await self._current(job)
            await asyncio.to_thread(self.originals.keep, job.received, job.file, job.external_id)
            upsert, new = await self._store(job, document, content_hash, passages, new)
            await self._drop_earlier_originals(job)
        await asyncio.to_thread(self.read_pages.of(job.received.sha256).forget)
        _log.info(
            "document taken in",
            workspace=job.workspace.slug,
            outcome=upsert.outcome.value,
            suffix=job.suffix,
            bytes=job.received.size,
            passages=upsert.passage_count,
            awaiting=upsert.awaiting_passage_count,
            extract_ms=round((extracted - started) * 1e3, 1),
            cut_ms=round((cut_at - extracted) * 1e3, 1),
            embed_ms=round((embedded - cut_at) * 1e3, 1),
            store_ms=round((perf_counter() - embedded) * 1e3, 1),
        )
        return report_of(document, upsert, new, warnings)

    async def _store(
        self,
        job: _Job,
        document: Document,
        content_hash: str,
        passages: Sequence[CutPassage],
        new: NewVectors,
    ) -> tuple[UpsertReport, NewVectors]:
        """Stores the document; without vectors where they come from another model than before."""
        try:
            upsert = await self.store.upsert_document(
                job.workspace.slug,
                replace(
                    document, content_hash=content_hash + (INCOMPLETE if new.waiting_count else "")
                ),
                [passage.passage for passage in passages],
                [new.block] if new.block is not None else [],
                timeout=_WRITE_TIMEOUT_S,
            )
        except FailedPrecondition as error:
            if new.block is None or error.reason != "SPACE_DRIFTED":
                raise
            bare = NewVectors(waiting_count=len(passages), failure=str(error), reports=new.reports)
            return await self._store(job, document, content_hash, passages, bare)
        return upsert, new

    async def _cut(
        self, job: _Job, extraction: Extraction
    ) -> tuple[Document, tuple[CutPassage, ...], tuple[str, ...]]:
        settings = job.workspace.settings
        tokens = await self.rates.measure(job.workspace.preferred_space_id)
        language = await asyncio.to_thread(
            document_language,
            job.file.language,
            extraction.facts.language,
            settings.language,
            extraction.blocks,
        )
        document, warnings = described(job.file, job.external_id, extraction, language)
        passages = await asyncio.to_thread(
            cut,
            extraction.blocks,
            document.title,
            job.profile,
            tokens,
            settings.child_token_count,
        )
        cut_at = [one.passage.chunk_index for one in passages if one.passage.cuts_token]
        remarks = [f"passages that cut a word too long for one: {places(cut_at)}"] if cut_at else []
        return document, passages, (*extraction.warnings, *warnings, *remarks)

    async def _current(self, job: _Job) -> StoredDocument | None:
        """Returns the document as it is.

        FailedPrecondition where it is not made of the file that it has to be made of.
        """
        stored = await self._stored(job, include_passages=False)
        content_hash = stored.document.content_hash if stored is not None else ""
        if not content_hash.startswith(job.only_over):
            raise FailedPrecondition(
                f"document {job.external_id!r} was {'replaced' if stored else 'deleted'} meanwhile",
                reason="DOCUMENT_CHANGED",
            )
        return stored

    async def _drop_earlier_originals(self, job: _Job) -> None:
        """Removes the files the document was made from before; what stays is told to the log."""
        try:
            await asyncio.to_thread(
                self.originals.keep_only, job.workspace.slug, job.external_id, job.received.sha256
            )
        except ServiceError as error:
            _log.warning("earlier originals stay", workspace=job.workspace.slug, error=str(error))

    async def _stored(self, job: _Job, *, include_passages: bool) -> StoredDocument | None:
        try:
            return await self.store.get_document(
                job.workspace.slug,
                job.external_id,
                include_passages,
                timeout=_READ_TIMEOUT_S,
            )
        except NotFound:
            return None

    async def _stored_spaces(self, job: _Job) -> StoredSpaces:
        """Returns where vectors are held; nowhere for a document too large for one answer."""
        try:
            stored = await self._stored(job, include_passages=True)
        except ResourceExhausted:
            return {}
        spaces: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        for one in stored.passages if stored is not None else ():
            spaces[one.passage.embedded_text_hash] |= frozenset(one.space_ids)
        return dict(spaces)


def _outcome_of_equal(content_hash: str, intention: Intention | None) -> IngestionOutcome:
    """Returns what became of a file whose document is there already, with equal content.

    An earlier attempt may have stored it and died before anybody was told.
    """
    if intention is None or intention.content_hash != content_hash:
        return IngestionOutcome.UNCHANGED
    return IngestionOutcome.REPLACED if intention.replaces else IngestionOutcome.CREATED
