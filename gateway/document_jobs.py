"""Jobs that take documents in, as callers see them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from gateway.incoming_files import IncomingFile, IngestionReport

INGESTION = "ingestion"
"""Kind of the jobs that take files in."""


class DocumentJobState(Enum):
    """How far a file is, or a job with its files."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    INDEXED = "indexed"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL_STATES = frozenset(
    {DocumentJobState.INDEXED, DocumentJobState.FAILED, DocumentJobState.CANCELLED}
)


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """A file on its way into a job; `content` is to be read before the next file is asked for.

    With `only_over`, a SHA-256, it is taken in only while its document is made of that file.
    """

    file: IncomingFile
    content: AsyncIterator[bytes]
    only_over: str = ""


@dataclass(frozen=True, slots=True)
class FileFailure:
    """Why a file failed or waits: canonical status, UPPER_SNAKE reason, wrong field, in words."""

    status: str
    reason: str
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file of a job; `file_index` counts from 0. `report` is set once it is indexed."""

    file_index: int
    external_id: str
    file_name: str
    state: DocumentJobState
    report: IngestionReport | None = None
    failure: FileFailure | None = None
    attempt_count: int = 0


@dataclass(frozen=True, slots=True)
class DocumentJob:
    """A job; `files` holds those that were asked for, in the order in which they came."""

    job_id: str
    workspace: str
    state: DocumentJobState
    revision: int
    create_time: datetime
    update_time: datetime
    finish_time: datetime | None = None
    state_counts: Mapping[DocumentJobState, int] = field(default_factory=dict)
    passage_count: int = 0
    files: tuple[JobFile, ...] = ()
    kind: str = INGESTION

    @property
    def file_count(self) -> int:
        """Files in all."""
        return sum(self.state_counts.values())

    @property
    def finished(self) -> bool:
        """Nothing more will happen unless it is retried."""
        return self.state in FINAL_STATES


@dataclass(frozen=True, slots=True)
class DocumentJobPage:
    """Jobs without files, newest first; an empty `next_page_token` marks the last page."""

    jobs: tuple[DocumentJob, ...]
    next_page_token: str
