"""Receives files and has a job take them in: on disk first, then queued, then acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from chassis.errors import InvalidArgument, ResourceExhausted
from gateway.document_jobs import INGESTION, SubmittedFile
from gateway.incoming_files import IncomingFile
from gateway.ingestion.description import check_description
from gateway.ingestion.extraction.registry import suffix_of
from gateway.ingestion.kept_files import KeptFiles
from gateway.ingestion.passage_store import PassageStore
from gateway.ingestion.received_files import ReceivingFolder
from gateway.ingestion.reports import refusals_named
from gateway.ingestion.upload_records import submitted_record
from gateway.ingestion.workspace_profile import profile_of
from gateway.jobs.failures import failure_of
from gateway.jobs.job import Job, NewTask, Task
from gateway.jobs.job_store import JobStore
from gateway.validation import check_slug

MAX_FILES = 10_000
_READ_TIMEOUT_S = 10.0
_ENDING_UPLOADS = frozenset({"INCOMPLETE_UPLOAD", "NO_DISK_SPACE"})
"""Reasons that concern the whole stream, whichever file they came with."""


@dataclass(slots=True)
class _Batch:
    """What has arrived of a job so far."""

    job_id: str
    workspace: str = ""
    tasks: list[NewTask] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Submissions:
    """Takes jobs on."""

    jobs: JobStore
    store: PassageStore
    receiving: ReceivingFolder
    kept: KeptFiles

    async def submit_one(self, submitted: SubmittedFile) -> Job:
        """Takes one file on; what is wrong with it is raised at once, before it is read if it can.

        The errors are those of `submit`, and those that would let the file fail.
        """
        with self._batch() as batch:
            await self._check_workspace(batch, submitted.file)
            await self._receive(batch, submitted)
            return await self._create(batch)

    async def submit(self, files: AsyncIterator[SubmittedFile]) -> Job:
        """Takes many files on as one job; a file that cannot be taken in fails in it.

        InvalidArgument: no file, files of several workspaces, a broken upload. NotFound: no such
        workspace. ResourceExhausted: too many files, no disk space left. Nothing stays then.
        """
        with self._batch() as batch:
            async for submitted in files:
                await self._check_workspace(batch, submitted.file)
                if len(batch.tasks) == MAX_FILES:
                    raise ResourceExhausted(
                        f"a job has at most {MAX_FILES} files; send the others in another job",
                        reason="TOO_MANY_FILES",
                    )
                await self._receive_or_refuse(batch, submitted)
            if not batch.tasks:
                raise InvalidArgument("no file was sent", field="header", reason="NO_FILES")
            return await self._create(batch)

    @contextmanager
    def _batch(self) -> Iterator[_Batch]:
        """Yields an empty batch, of which nothing stays on disk if it does not become a job."""
        batch = _Batch(self.jobs.new_id())
        try:
            yield batch
        except BaseException:
            for index in batch.kept:
                self.kept.remove(batch.job_id, index)
            raise

    def forget(self, tasks: Iterable[Task]) -> None:
        """Removes what was received for tasks that nobody will do again. Blocks."""
        for task in tasks:
            self.kept.remove(task.job_id, int(task.payload["index"]))

    async def _check_workspace(self, batch: _Batch, file: IncomingFile) -> None:
        if not batch.workspace:
            check_slug(file.workspace, "workspace")
            workspace = await self.store.describe_workspace(file.workspace, timeout=_READ_TIMEOUT_S)
            profile_of(workspace)
            batch.workspace = file.workspace
        elif file.workspace != batch.workspace:
            raise InvalidArgument(
                f"{file.file_name!r} is for workspace {file.workspace!r}, the job for "
                f"{batch.workspace!r}; send one job for each workspace",
                field="workspace",
            )

    async def _receive_or_refuse(self, batch: _Batch, submitted: SubmittedFile) -> None:
        file = submitted.file
        try:
            await self._receive(batch, submitted)
        except (InvalidArgument, ResourceExhausted) as error:
            if error.reason in _ENDING_UPLOADS:
                raise
            failure = failure_of(error)
            record = submitted_record(file, len(batch.tasks), refusal=failure)
            batch.tasks.append(NewTask(_subject(file), record, failure))

    async def _receive(self, batch: _Batch, submitted: SubmittedFile) -> None:
        file, index = submitted.file, len(batch.tasks)
        check_description(file)
        with refusals_named(file.file_name):
            suffix_of(file.file_name)
        async with self.receiving.receive(submitted.content) as received:
            if received.size == 0:
                raise InvalidArgument(
                    f"{file.file_name}: the file is empty", field="content", reason="EMPTY_FILE"
                )
            batch.kept.append(index)
            await asyncio.to_thread(self.kept.keep, received, batch.job_id, index)
        record = submitted_record(
            file, index, sha256=received.sha256, only_over=submitted.only_over
        )
        batch.tasks.append(NewTask(_subject(file), record))

    async def _create(self, batch: _Batch) -> Job:
        await asyncio.to_thread(self.kept.sync)
        # A database that is lost now may have taken the job on all the same. Without a job, the
        # upkeep removes the files after a time.
        batch.kept.clear()
        return await self.jobs.create(INGESTION, batch.workspace, batch.tasks, job_id=batch.job_id)


def _subject(file: IncomingFile) -> str:
    # What was refused may hold anything; PostgreSQL keeps no NUL in a text.
    return file.document_id.replace("\0", "")[:512]
