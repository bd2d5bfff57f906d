"""What holds for the queue whatever happens in whatever order."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import FailedPrecondition
from gateway.database.database import Database
from gateway.jobs.job import FINAL, IN_WORK, Job, JobState, NewTask, Task, TaskFailure, state_of
from gateway.jobs.job_store import JobStore
from gateway.jobs.task_queue import LeasedTask, LeaseLost, TaskQueue
from tests.fakes.clock import FakeClock

LEASE_S = 10.0
FAILURE = TaskFailure("UNAVAILABLE", "UNAVAILABLE", "lost")

subjects = st.lists(st.sampled_from("abc"), min_size=1, max_size=3)
place = st.integers(0, 5)
steps = st.one_of(
    st.tuples(st.just("create"), subjects),
    st.tuples(st.just("lease"), place),
    st.tuples(st.sampled_from(["finish", "fail", "defer", "put_back", "advance"]), place),
    st.tuples(st.sampled_from(["cancel", "retry"]), place),
    st.tuples(st.just("wait"), st.sampled_from([1.0, LEASE_S + 1])),
)


@dataclass
class World:
    """A workspace of its own in a database, and everybody who ever held a lease in it."""

    store: JobStore
    queue: TaskQueue
    clock: FakeClock
    workspace: str = field(default_factory=lambda: uuid4().hex)
    jobs: list[Job] = field(default_factory=list)
    leases: list[LeasedTask] = field(default_factory=list)
    over: dict[int, JobState] = field(default_factory=dict)

    async def take(self, step: tuple[str, object]) -> None:
        """Does one step; what cannot be done then is refused and changes nothing."""
        match step:
            case ("create", list(names)):
                tasks = [NewTask(name, {}) for name in names]
                self.jobs.append(await self.store.create(self.workspace, self.workspace, tasks))
            case ("lease", _):
                await self._lease()
            case ("wait", float(seconds)):
                self.clock.now += seconds
            case (("cancel" | "retry") as name, int(at)) if self.jobs:
                job = self.jobs[at % len(self.jobs)]
                with suppress(FailedPrecondition):
                    await getattr(self.store, name)(self.workspace, job.id)
                    if name == "retry":
                        self.over.clear()
            case (name, int(at)) if self.leases and name not in ("cancel", "retry"):
                with suppress(LeaseLost):
                    await self._note(name, self.leases[at % len(self.leases)])
            case _:
                pass

    async def _lease(self) -> None:
        before = await self.tasks()
        # The kind is the workspace's own: other examples share the database.
        leased = await self.queue.lease([self.workspace], JobState.EXTRACTING, "me", LEASE_S)
        if leased is None:
            return
        earlier = [
            task
            for task in before
            if task.subject == leased.task.subject
            and task.number < leased.task.number
            and task.state not in FINAL
        ]
        assert earlier == []
        same = [one for one in self.leases if one.task.number == leased.task.number]
        assert all(one.token < leased.token for one in same)
        self.leases.append(leased)

    async def _note(self, name: str, leased: LeasedTask) -> None:
        match name:
            case "finish":
                await self.queue.finish(leased, {}, count=1)
            case "fail":
                await self.queue.fail(leased, FAILURE)
            case "defer":
                await self.queue.defer(leased, FAILURE, 0.5)
            case "put_back":
                await self.queue.put_back(leased)
            case _:
                await self.queue.advance(leased, JobState.EMBEDDING)
        newest = [one for one in self.leases if one.task.number == leased.task.number][-1]
        assert newest.token == leased.token, "an older holder was heard"

    async def tasks(self) -> list[Task]:
        """Returns all tasks of the workspace."""
        found: list[Task] = []
        for job in self.jobs:
            found += (await self.store.job_with_tasks(self.workspace, job.id))[1]
        return found

    async def check(self) -> None:
        """Raises AssertionError where something does not hold that always must."""
        working: list[str] = []
        for job in self.jobs:
            found, tasks = await self.store.job_with_tasks(self.workspace, job.id)
            counts = {state: 0 for state in JobState}
            for task in tasks:
                counts[task.state] += 1
                assert task.revision <= found.revision
                assert self.over.get(task.number, task.state) is task.state
                if task.state in FINAL:
                    self.over[task.number] = task.state
                if task.state in IN_WORK:
                    working.append(task.subject)
            assert found.counts == {state: count for state, count in counts.items() if count}
            assert found.state is state_of(counts)
            assert (found.finish_time is not None) == found.finished
        assert len(working) == len(set(working)), "a subject is in work twice"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A database with our tables, shared by all examples."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / 'gateway.sqlite'}"

        async def prepare() -> None:
            database = Database(url)
            await database.prepare()
            await database.close()

        asyncio.run(prepare())
        yield url


@given(taken=st.lists(steps, min_size=4, max_size=25))
def test_any_sequence_of_steps_keeps_the_queue_whole(
    url: str, taken: list[tuple[str, object]]
) -> None:
    """Jobs agree with their tasks, what is over stays over until it is retried, a subject is in
    work once and in order, and only the newest holder of a task is heard."""

    async def run() -> None:
        database = Database(url)
        clock = FakeClock()
        world = World(JobStore(database, clock=clock), TaskQueue(database, clock=clock), clock)
        for step in taken:
            await world.take(step)
            await world.check()
        await database.close()

    asyncio.run(run())
