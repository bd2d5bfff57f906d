"""Taking files in one by one; a failure is noted and does not stop the others."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from justesse.cli.command_line import error_line
from justesse.cli.ingestion.selection import SelectedFile
from justesse.client import AsyncJustesse, DocumentFacts, JustesseError

FAILED = "failed"
UPLOADS_AT_ONCE = 2
"""While one file is embedded, the next is read and cut."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file."""

    path: str
    external_id: str
    outcome: str
    """ "created", "replaced", "unchanged" or "failed"."""
    passage_count: int = 0
    awaiting_passage_count: int = 0
    warnings: tuple[str, ...] = ()
    reason: str = ""
    """UPPER_SNAKE reason of a failure, where the service gave one."""
    message: str = ""
    """Why it failed."""

    @property
    def failed(self) -> bool:
        """The file was not taken in."""
        return self.outcome == FAILED


@dataclass(frozen=True, slots=True)
class Upload:
    """One file with what is said about it."""

    file: SelectedFile
    facts: DocumentFacts


async def ingest_files(
    justesse: AsyncJustesse,
    workspace: str,
    uploads: Sequence[Upload],
    *,
    timeout: float | None,
    report: Callable[[FileOutcome], None],
) -> tuple[FileOutcome, ...]:
    """Takes files in, two at a time; returns the outcomes in the order of `uploads`.

    `report` is called with each outcome as it comes.
    """
    turns = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def take(upload: Upload) -> FileOutcome:
        async with turns:
            outcome = await _outcome_of(justesse, workspace, upload, timeout)
        report(outcome)
        return outcome

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(take(upload)) for upload in uploads]
    return tuple(task.result() for task in tasks)


async def _outcome_of(
    justesse: AsyncJustesse, workspace: str, upload: Upload, timeout: float | None
) -> FileOutcome:
    file = upload.file
    path = str(file.path).encode("utf-8", "replace").decode()

    def failure(message: str, reason: str = "") -> FileOutcome:
        return FileOutcome(path, file.external_id, FAILED, reason=reason, message=message)

    if file.problem:
        return failure(file.problem)
    try:
        result = await justesse.ingest(workspace, file.path, timeout=timeout, **upload.facts)
    except JustesseError as error:
        return failure(error_line(error), error.reason)
    except OSError as error:
        return failure(error.strerror or str(error))
    except ValueError as error:
        return failure(str(error))
    return FileOutcome(
        path,
        result.external_id,
        result.outcome.value,
        result.passage_count,
        result.awaiting_passage_count,
        result.warnings,
    )
