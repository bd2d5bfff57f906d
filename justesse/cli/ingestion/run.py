"""Taking files in one by one; a failure is noted and does not stop the others."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from justesse.cli.failures import error_line
from justesse.cli.ingestion.patience import Patience
from justesse.cli.ingestion.selection import SelectedFile
from justesse.cli.system_errors import words_of
from justesse.client import (
    AsyncJustesse,
    DocumentFacts,
    IngestionResult,
    JustesseError,
    UnavailableError,
)

FAILED = "failed"
SKIPPED = "skipped"
UPLOADS_AT_ONCE = 2
"""While one file is embedded, the next is read and cut."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file."""

    path: str
    external_id: str
    outcome: str
    """ "created", "replaced", "unchanged", "failed", or "skipped" after the mesh was lost."""
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
        return self.outcome in (FAILED, SKIPPED)


@dataclass(frozen=True, slots=True)
class Upload:
    """One file with what is said about it."""

    file: SelectedFile
    facts: DocumentFacts
    file_name: str = ""
    """Name under which it is sent; empty: its own."""


async def ingest_files(
    justesse: AsyncJustesse,
    workspace: str,
    uploads: Sequence[Upload],
    *,
    timeout: float | None,
    report: Callable[[FileOutcome], None],
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> tuple[FileOutcome, ...]:
    """Takes files in, two at a time; returns the outcomes in the order of `uploads`.

    `report` is called with each outcome as it comes. An upload that finds a part of the mesh
    missing is sent again after a `pause`; once the mesh is lost, the rest is skipped.
    """
    turns = asyncio.Semaphore(UPLOADS_AT_ONCE)
    patience = Patience(pause, UPLOADS_AT_ONCE)

    async def take(upload: Upload) -> FileOutcome:
        async with turns:
            outcome = await _outcome_of(justesse, workspace, upload, timeout, patience)
        report(outcome)
        return outcome

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(take(upload)) for upload in uploads]
    return tuple(task.result() for task in tasks)


async def _outcome_of(
    justesse: AsyncJustesse,
    workspace: str,
    upload: Upload,
    timeout: float | None,
    patience: Patience,
) -> FileOutcome:
    file = upload.file
    path = str(file.path).encode("utf-8", "replace").decode()
    file_name = upload.file_name or file.path.name

    def failure(message: str, reason: str = "") -> FileOutcome:
        # The row names the file already.
        message = message.removeprefix(f"{file_name}: ")
        return FileOutcome(path, file.external_id, FAILED, reason=reason, message=message)

    async def send() -> IngestionResult:
        content = file.path if file.content is None else file.content
        return await justesse.ingest(
            workspace, content, file_name=upload.file_name, timeout=timeout, **upload.facts
        )

    if file.problem:
        return failure(file.problem)
    if patience.lost:
        return FileOutcome(path, file.external_id, SKIPPED)
    try:
        result = await patience.answer_of(send)
    except UnavailableError as error:
        if patience.lost_before(error):
            return FileOutcome(path, file.external_id, SKIPPED)
        return failure(error_line(error), error.reason)
    except JustesseError as error:
        return failure(error_line(error), error.reason)
    except OSError as error:
        return failure(words_of(error))
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
