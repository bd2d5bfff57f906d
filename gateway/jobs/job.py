"""A job and its tasks, as they stand at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

Record = Mapping[str, Any]
"""What a kind of work notes about a task, as plain JSON data."""


class JobState(Enum):
    """How far a task is, or a job with its tasks."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    INDEXED = "indexed"
    FAILED = "failed"
    CANCELLED = "cancelled"


IN_WORK = (JobState.EXTRACTING, JobState.CHUNKING, JobState.EMBEDDING)
FINAL = (JobState.INDEXED, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """Why a task failed: canonical status, UPPER_SNAKE reason, the wrong field, and in words."""

    status: str
    reason: str
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be done.

    `subject` names what it is about, such as a document's external id: of the tasks of one kind
    and workspace with equal subjects only the oldest is worked at a time. One with a `failure` has
    failed already.
    """

    subject: str
    payload: Record
    failure: TaskFailure | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it stands.

    `number` grows over all tasks. `revision` is that of the job at the task's last change.
    `done_count` of `total_count` units are done, both 0 while unknown. `failure` is also set while
    a task waits for another attempt.
    """

    number: int
    job_id: str
    workspace: str
    subject: str
    state: JobState
    revision: int
    payload: Record
    result: Record | None = None
    failure: TaskFailure | None = None
    done_count: int = 0
    total_count: int = 0
    attempt_count: int = 0
    cancel_requested: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands.

    `revision` grows with every change. `counts` says how many tasks are in each state. Counts of
    units are sums over the tasks.
    """

    id: str
    kind: str
    workspace: str
    state: JobState
    revision: int
    create_time: datetime
    update_time: datetime
    finish_time: datetime | None = None
    counts: Mapping[JobState, int] = field(default_factory=dict)
    done_count: int = 0
    total_count: int = 0

    @property
    def finished(self) -> bool:
        """Nothing more will happen unless it is retried."""
        return self.state in FINAL

    @property
    def task_count(self) -> int:
        """Number of its tasks."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs, newest first; an empty `next_page_token` marks the last page."""

    jobs: tuple[Job, ...]
    next_page_token: str


def state_of(counts: Mapping[JobState, int]) -> JobState:
    """Returns the state of a job: of its tasks in work the least advanced; of a finished one the
    worst.

    A job is queued while tasks wait and none is in work, and failed if one task failed.
    """
    for state in (*IN_WORK, JobState.QUEUED, JobState.FAILED, JobState.CANCELLED):
        if counts.get(state):
            return state
    return JobState.INDEXED
