"""Does one task of an ingestion job: takes in the file that was kept for it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import asdict, dataclass

from chassis.errors import DataLoss
from gateway.document_jobs import DocumentJobState
from gateway.ingestion.document_ingestion import DocumentIngestion, Intention
from gateway.ingestion.kept_files import KeptFiles
from gateway.ingestion.previous_versions import PreviousVersions
from gateway.ingestion.received_files import ReceivingFolder
from gateway.ingestion.upload_records import file_from, refusal_from, report_record
from gateway.jobs.failures import error_of
from gateway.jobs.held_task import HeldTask, TaskResult
from gateway.jobs.job import JobState


@dataclass(frozen=True, slots=True)
class IngestionWork:
    """Takes kept files in; doing a task twice comes to the same end."""

    ingestion: DocumentIngestion
    previous: PreviousVersions
    receiving: ReceivingFolder
    kept: KeptFiles

    async def __call__(self, held: HeldTask) -> TaskResult:
        """Does one task; what it raises is the failure of the file."""
        task = held.task
        refusal = refusal_from(task.payload)
        if refusal is not None:
            raise error_of(refusal)
        file = file_from(task.payload["file"])
        index = int(task.payload["index"])
        with ExitStack() as stack:
            try:
                received = stack.enter_context(
                    self.receiving.lent(
                        self.kept.path_of(task.job_id, index), task.payload["sha256"]
                    )
                )
            except FileNotFoundError:
                raise DataLoss(
                    f"{file.file_name}: the received file is gone from the data folder; send it "
                    "again",
                    reason="RECEIVED_FILE_LOST",
                ) from None
            if file.keep_previous:
                await self.previous.keep(file, received.sha256)
            report = await self.ingestion.take_in(
                file, received, _HeldSteps(held), only_over=task.payload.get("only_over", "")
            )
        return TaskResult(
            report_record(report),
            report.passage_count,
            afterwards=lambda: self.kept.remove(task.job_id, index),
        )


@dataclass(frozen=True, slots=True)
class _HeldSteps:
    """Notes the steps of a file on its task."""

    held: HeldTask

    @property
    def intention(self) -> Intention | None:
        """What an earlier attempt was about to store."""
        noted = self.held.task.result
        return None if noted is None or "content_hash" not in noted else Intention(**noted)

    async def advance(
        self,
        state: DocumentJobState,
        *,
        passage_count: int = 0,
        intention: Intention | None = None,
    ) -> None:
        """Notes that a step begins."""
        await self.held.advance(
            JobState(state.value),
            total_count=passage_count,
            result=None if intention is None else asdict(intention),
        )

    def committing(self) -> AbstractAsyncContextManager[None]:
        """Surrounds the step that shows."""
        return self.held.committing()
