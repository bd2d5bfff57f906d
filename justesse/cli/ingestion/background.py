"""Handing files over as jobs, without waiting for what becomes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from justesse.cli.ingestion.run import Upload
from justesse.cli.output import plain
from justesse.cli.system_errors import words_of
from justesse.cli.wording import counted
from justesse.client import AsyncJustesse, FileToIngest, Job

JOB_FILES = 500
JOB_BYTES = 256 * 1024 * 1024
"""A job of at most so many files and bytes; what breaks off is sent again from its beginning."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that could not be handed over, and why."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The jobs that have the files now, and the files that none has."""

    jobs: tuple[Job, ...]
    left_out: tuple[LeftOut, ...]


async def hand_over(
    justesse: AsyncJustesse, workspace: str, uploads: Sequence[Upload], *, timeout: float | None
) -> HandedOver:
    """Submits files in jobs of a bounded size; one that cannot be read stops no other."""
    left_out = [
        LeftOut(_shown(upload), problem) for upload in uploads if (problem := _problem_of(upload))
    ]
    ready = [upload for upload in uploads if not _problem_of(upload)]
    jobs = [
        await justesse.submit(workspace, [_file_of(one) for one in batch], timeout=timeout)
        for batch in _batches(ready)
    ]
    return HandedOver(tuple(jobs), tuple(left_out))


def draw_handed_over(console: Console, handed_over: HandedOver, program: str) -> None:
    """Names the jobs and how to watch them, and what was left out."""
    for job in handed_over.jobs:
        console.print(
            f"{job.job_id}: {counted(job.file_count, 'file')} queued; see: {program} jobs watch "
            f"{job.job_id} --workspace {job.workspace}",
            soft_wrap=True,
        )
    for file in handed_over.left_out:
        console.print(plain(f"{file.path}: {file.message}", "red"), soft_wrap=True)


def _problem_of(upload: Upload) -> str:
    file = upload.file
    if file.problem or file.content is not None:
        return file.problem
    try:
        with Path(file.path).open("rb"):
            return ""
    except OSError as error:
        return words_of(error)


def _batches(uploads: Sequence[Upload]) -> Iterator[list[Upload]]:
    batch: list[Upload] = []
    held = 0
    for upload in uploads:
        size = _size_of(upload)
        if batch and (len(batch) == JOB_FILES or held + size > JOB_BYTES):
            yield batch
            batch, held = [], 0
        batch.append(upload)
        held += size
    if batch:
        yield batch


def _size_of(upload: Upload) -> int:
    content = upload.file.content
    return upload.file.path.stat().st_size if content is None else len(content)


def _file_of(upload: Upload) -> FileToIngest:
    content = upload.file.path if upload.file.content is None else upload.file.content
    return FileToIngest(content, upload.file_name, upload.facts)


def _shown(upload: Upload) -> str:
    return str(upload.file.path).encode("utf-8", "replace").decode()
