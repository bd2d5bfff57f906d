"""Tasks are handed out one by one, fairly, and to one holder at a time."""

import asyncio
import random

import pytest

from gateway.jobs.job import JobState, TaskFailure
from gateway.jobs.task_queue import LeaseLost, LeaseState
from gateway.jobs.withdrawals import Withdrawals
from tests.unit.gateway_jobs.conftest import LEASE_S, Desk

LOST = TaskFailure("UNAVAILABLE", "UNAVAILABLE", "the retriever is lost")


async def test_tasks_of_a_job_come_in_order(desk: Desk) -> None:
    """None once all are in hands."""
    await desk.create("a", "b", "c")

    subjects = [(await desk.leased()).task.subject for _ in range(3)]

    assert subjects == ["a", "b", "c"]
    assert await desk.lease() is None


async def test_jobs_of_a_workspace_take_turns(desk: Desk) -> None:
    """A single file that comes late does not wait for the end of a batch."""
    await desk.create("a", "b", "c", "d")
    await desk.leased()
    desk.clock.now += 1
    await desk.create("single")

    subjects = []
    for _ in range(2):
        desk.clock.now += 0.1
        subjects.append((await desk.leased()).task.subject)

    assert "single" in subjects


async def test_another_kind_of_work_is_left_alone(desk: Desk) -> None:
    """Only the kinds that were asked for are handed out."""
    await desk.create("a", kind="reembedding")

    assert await desk.lease() is None
    assert await desk.lease(kind="reembedding") is not None


async def test_workspaces_take_turns_however_much_one_has_waiting(desk: Desk) -> None:
    """A workspace that comes late with little waits for no other's hundred files."""
    await desk.create(*(f"big-{n}" for n in range(20)), workspace="big")
    await desk.create("small-0", "small-1", workspace="small")

    order = []
    for _ in range(6):
        leased = await desk.leased()
        order.append(leased.task.workspace)
        await desk.queue.finish(leased, {})

    assert order.count("small") == 2
    assert {"small"} <= set(order[:2])
    assert {"small"} <= set(order[2:4])


async def test_a_workspace_with_little_in_work_comes_first(desk: Desk) -> None:
    """While one workspace's files are worked on, the next place goes to another."""
    await desk.create("a", "b", "c", workspace="big")
    first = await desk.leased()
    second = await desk.leased()
    await desk.create("late", workspace="small")

    third = await desk.leased()

    assert (first.task.workspace, second.task.workspace) == ("big", "big")
    assert third.task.workspace == "small"


async def test_tasks_of_one_subject_keep_their_order(desk: Desk) -> None:
    """A later upload of a document waits for the earlier one, also while that is put off."""
    await desk.create("a")
    desk.clock.now += 1
    await desk.create("a", "b")

    first = await desk.leased()
    other = await desk.leased()
    assert (first.task.subject, other.task.subject) == ("a", "b")
    assert await desk.lease() is None
    await desk.queue.defer(first, LOST, 60)
    assert await desk.lease() is None

    desk.clock.now += 61
    again = await desk.leased()
    assert again.task.number == first.task.number
    await desk.queue.finish(again, {})
    assert (await desk.leased()).task.number > first.task.number


async def test_a_subject_is_one_within_its_workspace_only(desk: Desk) -> None:
    """Documents of equal id in two workspaces are two documents."""
    await desk.create("a", workspace="one")
    await desk.create("a", workspace="two")

    assert await desk.lease() is not None
    assert await desk.lease() is not None


async def test_a_task_whose_holder_died_is_taken_up_again(desk: Desk) -> None:
    """After the lease, or at once where the holder is known to be dead; not before."""
    await desk.create("a")
    dead = await desk.leased("dead")

    desk.clock.now += LEASE_S - 1
    assert await desk.lease("other") is None
    desk.clock.now += 2
    second = await desk.leased("other")
    assert (second.task.number, second.task.attempt_count) == (dead.task.number, 2)

    assert await desk.queue.free("nobody") == 0
    assert await desk.queue.free("other") == 1
    assert (await desk.leased("third")).task.attempt_count == 3


async def test_who_lost_a_lease_can_note_nothing(desk: Desk) -> None:
    """Each of its writes is refused, and what the new holder notes is what counts."""
    job = await desk.create("a")
    old = await desk.leased("old")
    desk.clock.now += LEASE_S + 1
    new = await desk.leased("new")

    assert await desk.queue.renew(old, LEASE_S) is LeaseState.LOST
    for write in (
        desk.queue.advance(old, JobState.EMBEDDING),
        desk.queue.finish(old, {"by": "old"}),
        desk.queue.fail(old, LOST),
        desk.queue.defer(old, LOST, 1),
        desk.queue.put_back(old),
        desk.queue.stop(old),
    ):
        with pytest.raises(LeaseLost):
            await write
    await desk.queue.finish(new, {"by": "new"})
    with pytest.raises(LeaseLost):
        await desk.queue.finish(new, {"by": "new again"})

    _, (task,) = await desk.store.job_with_tasks("w", job.id)
    assert (task.state, task.result) == (JobState.INDEXED, {"by": "new"})


async def test_a_renewed_lease_holds_longer(desk: Desk) -> None:
    """Time counts from the renewal, and a renewal tells of a wish to cancel."""
    job = await desk.create("a")
    leased = await desk.leased()
    desk.clock.now += LEASE_S - 1

    assert await desk.queue.renew(leased, LEASE_S) is LeaseState.HELD
    desk.clock.now += LEASE_S - 1
    assert await desk.lease("other") is None
    await desk.store.cancel("w", job.id)

    assert await desk.queue.renew(leased, LEASE_S) is LeaseState.CANCEL_REQUESTED


async def test_a_task_put_back_is_as_if_it_had_not_been_leased(desk: Desk) -> None:
    """A process that stops in order costs no attempt."""
    await desk.create("a")

    await desk.queue.put_back(await desk.leased())

    assert (await desk.leased()).task.attempt_count == 1


async def test_waiting_and_working_tasks_are_counted(desk: Desk) -> None:
    """By state, without those that are finished."""
    await desk.create("a", "b", "c")
    await desk.queue.finish(await desk.leased(), {})
    await desk.leased()

    assert await desk.queue.counts("ingestion") == {JobState.QUEUED: 1, JobState.EXTRACTING: 1}


async def test_workers_side_by_side_do_each_task_once(desk: Desk, soak: bool) -> None:
    """However leases and ends interleave, no task is handed out twice and every job ends whole."""
    chance = random.Random(5)
    count = 200 if soak else 24
    jobs = [
        await desk.create(*(f"{n}-{m}" for m in range(3)), workspace=chance.choice("xyz"))
        for n in range(count // 3)
    ]
    done: list[int] = []

    async def work(holder: str) -> None:
        while leased := await desk.lease(holder):
            await asyncio.sleep(0)
            await desk.queue.finish(leased, {"by": holder}, count=1)
            done.append(leased.task.number)

    await asyncio.gather(*(work(f"holder-{n}") for n in range(4)))

    assert len(done) == len(set(done)) == len(jobs) * 3
    for job in jobs:
        found = await desk.store.job(job.workspace, job.id)
        assert (found.state, found.done_count) == (JobState.INDEXED, 3)


async def test_tasks_of_a_subject_are_withdrawn_from_every_job(desk: Desk) -> None:
    """What waits is cancelled, what is in work is asked to stop, what is finished is named."""
    withdrawals = Withdrawals(desk.database, clock=desk.clock)
    done = await desk.create("a")
    await desk.queue.finish(await desk.leased(), {})
    working = await desk.create("a", "b")
    held = await desk.leased()
    desk.clock.now += 1
    waiting = await desk.create("a", "c")
    other = await desk.create("a", workspace="v")

    finished = await withdrawals.withdraw("ingestion", "w", "a")

    assert {task.job_id for task in finished} == {done.id, waiting.id}
    assert await desk.states(working) == [JobState.EXTRACTING, JobState.QUEUED]
    assert await desk.queue.renew(held, LEASE_S) is LeaseState.CANCEL_REQUESTED
    assert await desk.states(waiting) == [JobState.CANCELLED, JobState.QUEUED]
    assert await desk.states(other) == [JobState.QUEUED]

    await withdrawals.withdraw("ingestion", "w")
    assert (await desk.store.job("w", waiting.id)).state is JobState.CANCELLED
    assert await desk.states(other) == [JobState.QUEUED]
