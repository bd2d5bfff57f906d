"""The job store over SQLite and PostgreSQL: every test of this folder runs on both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.database.database import Database
from gateway.jobs.job import Job, JobState, NewTask
from gateway.jobs.job_store import JobStore
from gateway.jobs.leases import NamedLeases
from gateway.jobs.task_queue import LeasedTask, TaskQueue
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import PostgresServer, running_postgres

LEASE_S = 10.0


@dataclass
class Desk:
    """Store, queue and leases over one database, under a clock that stands still."""

    url: str
    database: Database
    clock: FakeClock
    store: JobStore
    queue: TaskQueue
    leases: NamedLeases

    async def create(self, *subjects: str, workspace: str = "w", kind: str = "ingestion") -> Job:
        """Takes a job on with a task for each subject."""
        tasks = [NewTask(subject, {"name": subject}) for subject in subjects]
        return await self.store.create(kind, workspace, tasks)

    async def lease(self, holder: str = "a", kind: str = "ingestion") -> LeasedTask | None:
        """Leases the next task."""
        return await self.queue.lease([kind], JobState.EXTRACTING, holder, LEASE_S)

    async def leased(self, holder: str = "a") -> LeasedTask:
        """Leases the next task, which there must be."""
        leased = await self.lease(holder)
        assert leased is not None
        return leased

    async def states(self, job: Job) -> list[JobState]:
        """Returns the states of a job's tasks in order."""
        _, tasks = await self.store.job_with_tasks(job.workspace, job.id)
        return [task.state for task in tasks]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server."""
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'data' / 'gateway.sqlite'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.new_database()


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    """A fresh desk."""
    database = Database(database_url)
    await database.prepare()
    clock = FakeClock()
    yield Desk(
        database_url,
        database,
        clock,
        JobStore(database, clock=clock),
        TaskQueue(database, clock=clock),
        NamedLeases(database, clock=clock),
    )
    await database.close()
