"""Tasks are done, whatever happens to those who do them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from chassis.errors import InvalidArgument, ResourceExhausted, ServiceError, Unavailable
from gateway.database.database import Database
from gateway.jobs.failures import error_of
from gateway.jobs.held_task import HeldTask, TaskResult
from gateway.jobs.job import JobState
from gateway.jobs.job_changes import JobChanges
from gateway.jobs.job_store import JobStore
from gateway.jobs.retry_policy import RetryPolicy
from gateway.jobs.task_queue import TaskQueue
from gateway.jobs.task_runner import RunnerTerms
from tests.fakes.job_shop import TERMS, Shop


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """A fresh shop over SQLite."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'gateway.sqlite'}")
    await database.prepare()
    changes = JobChanges()
    yield Shop(
        JobStore(database, tell=changes.tell), TaskQueue(database, tell=changes.tell), changes
    )
    await database.close()


async def test_every_task_of_a_batch_is_done_once(shop: Shop) -> None:
    """One that fails does not stop the others, and its reason is kept."""

    async def refuse(_held: HeldTask) -> TaskResult:
        raise InvalidArgument("b.pdf: no PDF", field="file_name", reason="FILE_UNREADABLE")

    shop.steps["b"] = refuse
    job = await shop.create("a", "b", "c")
    async with shop.runner():
        found = await shop.finished(job)

    assert sorted(shop.begun) == ["a", "b", "c"]
    assert found.counts == {JobState.INDEXED: 2, JobState.FAILED: 1}
    _, tasks = await shop.store.job_with_tasks("w", job.id)
    assert tasks[1].failure is not None
    error = error_of(tasks[1].failure)
    assert isinstance(error, InvalidArgument)
    assert (error.message, error.field, error.reason) == (
        "b.pdf: no PDF",
        "file_name",
        "FILE_UNREADABLE",
    )


async def test_no_more_tasks_than_slots_are_in_work(shop: Shop) -> None:
    """A third task begins only when one of two has ended."""
    at_work = most = 0
    all_slots = asyncio.Event()

    async def count(_held: HeldTask) -> TaskResult:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        if at_work == TERMS.slots:
            all_slots.set()
        await all_slots.wait()
        await asyncio.sleep(0.01)
        at_work -= 1
        return TaskResult({})

    shop.steps = dict.fromkeys("abcdef", count)
    job = await shop.create(*"abcdef")
    async with shop.runner():
        await shop.finished(job)

    assert most == TERMS.slots


@pytest.mark.parametrize(
    "error", [Unavailable("the retriever is lost"), ResourceExhausted("busy", retry_after_s=1)]
)
async def test_what_passes_is_tried_again(shop: Shop, error: ServiceError) -> None:
    """Without anybody's doing, and the job ends well."""
    failures = [error, error]

    async def fail_twice(_held: HeldTask) -> TaskResult:
        if failures:
            raise failures.pop()
        return TaskResult({})

    shop.steps["a"] = fail_twice
    job = await shop.create("a")
    async with shop.runner():
        found = await shop.finished(job)

    assert (found.state, shop.begun) == (JobState.INDEXED, ["a"] * 3)


async def test_attempts_come_to_an_end(shop: Shop) -> None:
    """The task fails with the reason of the last attempt."""

    async def fail(_held: HeldTask) -> TaskResult:
        raise Unavailable("the retriever is lost", reason="RETRIEVER_LOST")

    shop.steps["a"] = fail
    job = await shop.create("a")
    async with shop.runner():
        await shop.finished(job)

    task = await shop.task(job, JobState.FAILED)
    assert task.failure is not None
    assert (task.failure.reason, shop.begun) == ("RETRIEVER_LOST", ["a"] * 3)


async def test_a_bug_fails_the_task_in_neutral_words(shop: Shop) -> None:
    """Nothing of the exception reaches the caller."""

    async def break_down(_held: HeldTask) -> TaskResult:
        raise ZeroDivisionError("secret")

    shop.steps["a"] = break_down
    job = await shop.create("a")
    async with shop.runner():
        await shop.finished(job)

    task = await shop.task(job, JobState.FAILED)
    assert task.failure is not None
    assert (task.failure.status, "secret" in task.failure.message) == ("INTERNAL", False)


async def test_work_in_progress_is_cancelled_at_once(shop: Shop) -> None:
    """The work is stopped where it stands, and the task counts as cancelled."""
    stopped = asyncio.Event()

    async def hang(_held: HeldTask) -> TaskResult:
        try:
            return await asyncio.Future()
        finally:
            stopped.set()

    shop.steps["a"] = hang
    job = await shop.create("a")
    async with shop.runner() as runner:
        await shop.task(job, JobState.EXTRACTING)
        await shop.store.cancel("w", job.id)
        runner.wake()
        found = await shop.finished(job)

    assert stopped.is_set()
    assert found.state is JobState.CANCELLED


async def test_a_step_that_shows_is_never_left_half_done(shop: Shop) -> None:
    """A wish to cancel that comes during it is too late; one that came before keeps it away."""
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def commit(held: HeldTask) -> TaskResult:
        async with held.committing():
            inside.set()
            await go_on.wait()
        return TaskResult({"committed": True})

    shop.steps["a"] = commit
    job = await shop.create("a")
    async with shop.runner() as runner:
        await inside.wait()
        await shop.store.cancel("w", job.id)
        runner.wake()
        await asyncio.sleep(0.1)
        go_on.set()
        found = await shop.finished(job)

    assert found.state is JobState.INDEXED
    assert (await shop.task(job, JobState.INDEXED)).result == {"committed": True}


async def test_a_runner_that_closes_puts_its_tasks_back(shop: Shop) -> None:
    """The next runner does them, as at a first attempt."""

    async def hang(_held: HeldTask) -> TaskResult:
        return await asyncio.Future()

    shop.steps["a"] = hang
    job = await shop.create("a")
    async with shop.runner():
        await shop.task(job, JobState.EXTRACTING)
    waiting = await shop.task(job, JobState.QUEUED)
    assert waiting.attempt_count == 0

    shop.steps.clear()
    async with shop.runner():
        found = await shop.finished(job)
    assert found.state is JobState.INDEXED


async def test_a_task_of_a_dead_process_is_done_by_another(shop: Shop) -> None:
    """Its lease runs out, and nothing of the job that was done is done again."""
    job = await shop.create("a", "b")
    dead = await shop.queue.lease(["ingestion"], JobState.EXTRACTING, "dead", 0.2)
    assert dead is not None

    async with shop.runner():
        found = await shop.finished(job)

    assert (found.state, sorted(shop.begun)) == (JobState.INDEXED, ["a", "b"])


async def test_a_task_that_kills_its_processes_fails_in_the_end(shop: Shop) -> None:
    """The message says that it never ended."""
    job = await shop.create("a")
    for _ in range(TERMS.retries.attempts):
        assert await shop.queue.lease(["ingestion"], JobState.EXTRACTING, "dead", -1) is not None

    async with shop.runner():
        await shop.finished(job)

    task = await shop.task(job, JobState.FAILED)
    assert task.failure is not None
    assert (task.failure.reason, shop.begun) == ("TOO_MANY_ATTEMPTS", [])


async def test_work_longer_than_a_lease_keeps_it(shop: Shop) -> None:
    """Two runners side by side never do one task twice."""

    async def take_long(_held: HeldTask) -> TaskResult:
        await asyncio.sleep(TERMS.lease_s * 2)
        return TaskResult({})

    shop.steps["a"] = take_long
    job = await shop.create("a")
    other = RunnerTerms("other", lease_s=TERMS.lease_s, poll_s=0.05, retries=TERMS.retries)
    async with shop.runner(), shop.runner(other):
        await shop.finished(job)

    assert shop.begun == ["a"]


async def test_who_lost_its_lease_notes_nothing(shop: Shop) -> None:
    """Its work is stopped, and what the new holder says is what counts."""
    ended = asyncio.Event()

    async def hang(_held: HeldTask) -> TaskResult:
        try:
            return await asyncio.Future()
        finally:
            ended.set()

    shop.steps["a"] = hang
    job = await shop.create("a")
    # With one slot, it cannot take up itself what it has lost.
    async with shop.runner(replace(TERMS, slots=1)):
        await shop.task(job, JobState.EXTRACTING)
        new = None
        while new is None:
            # Again, where the lease was renewed in between.
            await shop.queue.free("me")
            await asyncio.sleep(0.002)
            new = await shop.queue.lease(["ingestion"], JobState.CHUNKING, "new", 60)
        await ended.wait()
    assert (await shop.task(job, JobState.CHUNKING)).attempt_count == 2

    await shop.queue.finish(new, {"by": "new"})
    assert (await shop.task(job, JobState.INDEXED)).result == {"by": "new"}


def test_pauses_double_up_to_the_longest() -> None:
    """Each is shortened by at most a half, so that tasks do not come back all at once."""
    policy = RetryPolicy(first_s=1, longest_s=60)

    assert [policy.pause_s(n, lambda _low, high: high) for n in (1, 2, 3, 7, 500)] == [
        1,
        2,
        4,
        60,
        60,
    ]
    assert all(0.5 <= policy.pause_s(1) <= 1 for _ in range(50))
