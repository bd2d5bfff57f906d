"""Received files stay while a job needs them, and no longer."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.database.database import Database
from gateway.document_jobs import INGESTION
from gateway.ingestion.job_upkeep import JobUpkeep
from gateway.ingestion.kept_files import KeptFiles
from gateway.ingestion.received_files import ReceivingFolder
from gateway.jobs.job import Job, JobState, NewTask, TaskFailure
from gateway.jobs.job_store import JobStore
from gateway.jobs.task_queue import TaskQueue
from tests.fakes.clock import FakeClock

DAY_S = 86_400.0
REFUSED = TaskFailure("INVALID_ARGUMENT", "UNREADABLE_FILE", "no PDF")


@dataclass
class Shelf:
    """Jobs with their files, under a clock that stands still."""

    clock: FakeClock
    jobs: JobStore
    queue: TaskQueue
    receiving: ReceivingFolder
    kept: KeptFiles
    upkeep: JobUpkeep

    async def keep(self, job_id: str, index: int) -> None:
        """Receives and keeps a file."""

        async def content() -> AsyncIterator[bytes]:
            yield f"{job_id}-{index}".encode()

        async with self.receiving.receive(content()) as received:
            self.kept.keep(received, job_id, index)
        self.kept.sync()

    async def job(self, *endings: JobState) -> Job:
        """Takes a job on with a kept file for each task, whose tasks then end as said."""
        job_id = self.jobs.new_id()
        for index in range(len(endings)):
            await self.keep(job_id, index)
        tasks = [NewTask(f"{job_id}/{index}", {"index": index}) for index in range(len(endings))]
        job = await self.jobs.create(INGESTION, "w", tasks, job_id=job_id)
        for ending in endings:
            leased = await self.queue.lease([INGESTION], JobState.EXTRACTING, "me", 60)
            assert leased is not None
            if ending is JobState.INDEXED:
                await self.queue.finish(leased, {})
            elif ending is JobState.FAILED:
                await self.queue.fail(leased, REFUSED)
        return job


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    """A shelf whose jobs are kept for a week."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'gateway.sqlite'}")
    await database.prepare()
    clock = FakeClock(start=1_800_000_000.0)
    jobs = JobStore(database, clock=clock)
    kept = KeptFiles(tmp_path / "received")
    yield Shelf(
        clock,
        jobs,
        TaskQueue(database, clock=clock),
        ReceivingFolder(tmp_path / "incoming"),
        kept,
        JobUpkeep(jobs, kept, 7 * DAY_S, clock=clock),
    )
    await database.close()


async def test_only_files_that_may_be_needed_again_stay(shelf: Shelf) -> None:
    """Those in work and those that failed; the file of an indexed one goes, whoever left it."""
    job = await shelf.job(JobState.INDEXED, JobState.FAILED, JobState.EXTRACTING)

    assert await shelf.upkeep.tidy() == (0, 1)
    assert shelf.kept.all() == [(job.id, 1), (job.id, 2)]
    assert await shelf.upkeep.tidy() == (0, 0)


async def test_a_finished_job_goes_after_its_time_with_its_files(shelf: Shelf) -> None:
    """Not a second earlier, and never one that goes on."""
    old = await shelf.job(JobState.FAILED)
    working = await shelf.job(JobState.EXTRACTING)

    shelf.clock.now += 7 * DAY_S - 1
    assert await shelf.upkeep.tidy() == (0, 0)
    shelf.clock.now += 2
    # Its file has no job any more, and was received long ago.
    assert await shelf.upkeep.tidy() == (1, 1)

    assert [job.id for job in (await shelf.jobs.page("w")).jobs] == [working.id]
    assert shelf.kept.all() == [(working.id, 0)]
    assert old.id != working.id


async def test_a_file_whose_job_is_not_there_yet_is_left_alone(shelf: Shelf) -> None:
    """An upload may be under way in another process; a day later it is not."""
    job_id = shelf.jobs.new_id()
    await shelf.keep(job_id, 0)

    assert await shelf.upkeep.tidy() == (0, 0)
    shelf.clock.now += DAY_S + 1
    assert await shelf.upkeep.tidy() == (0, 1)


async def test_a_lent_file_may_be_moved_away_and_stays(shelf: Shelf, tmp_path: Path) -> None:
    """Nobody sweeps its second name meanwhile, and that name is gone afterwards."""
    await shelf.keep("a", 0)
    path = shelf.kept.path_of("a", 0)

    with shelf.receiving.lent(path, "ab") as moved:
        assert (moved.size, moved.sha256) == (3, "ab")
        assert shelf.receiving.sweep() == 0
        os.replace(moved.path, tmp_path / "original")
    with shelf.receiving.lent(path, "ab") as stays:
        assert stays.path.read_bytes() == b"a-0"

    assert path.read_bytes() == (tmp_path / "original").read_bytes() == b"a-0"
    assert list((tmp_path / "incoming").iterdir()) == []


async def test_a_lent_file_that_is_gone_is_told(shelf: Shelf) -> None:
    """As the system tells it."""
    with (
        pytest.raises(FileNotFoundError),
        shelf.receiving.lent(shelf.kept.path_of("a", 0), "ab"),
    ):
        pass


async def test_a_file_system_without_second_names_gets_a_copy(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lending works all the same."""

    def refuse(*_: object) -> None:
        raise PermissionError

    await shelf.keep("a", 0)
    monkeypatch.setattr(os, "link", refuse)

    with shelf.receiving.lent(shelf.kept.path_of("a", 0), "ab") as lent:
        assert lent.path.read_bytes() == b"a-0"
