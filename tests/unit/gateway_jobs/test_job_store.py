"""Jobs are taken on, shown, cancelled, retried and removed, on either database."""

import pytest

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound
from gateway.database.database import Database
from gateway.jobs.job import JobState, NewTask, TaskFailure
from gateway.jobs.job_store import JobStore
from tests.unit.gateway_jobs.conftest import Desk

LOST = TaskFailure("UNAVAILABLE", "UNAVAILABLE", "the retriever is lost")
REFUSED = TaskFailure("INVALID_ARGUMENT", "FILE_UNREADABLE", "a.pdf: no\0 PDF", "file_name")


async def test_a_job_is_there_for_whoever_opens_the_database_next(desk: Desk) -> None:
    """Tasks come back in order with their payloads, the job queued with all of them counted."""
    tasks = [NewTask("é.md", {"facts": {"n": 1.5, "list": ["a"]}}), NewTask("b.md", {})]
    job = await desk.store.create("ingestion", "w", tasks)

    database = Database(desk.url)
    await database.prepare()
    found, found_tasks = await JobStore(database).job_with_tasks("w", job.id)
    await database.close()

    assert found == job
    assert (job.state, job.counts, job.finish_time) == (JobState.QUEUED, {JobState.QUEUED: 2}, None)
    assert [(task.subject, task.payload) for task in found_tasks] == [
        (task.subject, task.payload) for task in tasks
    ]


async def test_a_job_belongs_to_its_workspace(desk: Desk) -> None:
    """No other workspace sees it, cancels it or retries it."""
    job = await desk.create("a")

    for call in (desk.store.job, desk.store.cancel, desk.store.retry):
        with pytest.raises(NotFound) as caught:
            await call("other", job.id)
        assert caught.value.reason == "JOB_NOT_FOUND"
    assert (await desk.store.page("other")).jobs == ()


async def test_jobs_are_listed_newest_first_in_pages(desk: Desk) -> None:
    """Every job is on one page, whatever is added meanwhile; the last page says so."""
    jobs = []
    for _ in range(5):
        desk.clock.now += 1
        jobs.append(await desk.create("a"))

    first = await desk.store.page("w", page_size=2)
    await desk.create("late")
    second = await desk.store.page("w", 2, first.next_page_token)
    third = await desk.store.page("w", 2, second.next_page_token)

    listed = [*first.jobs, *second.jobs, *third.jobs]
    assert [job.id for job in listed] == [job.id for job in reversed(jobs)]
    assert third.next_page_token == ""


@pytest.mark.parametrize(("size", "token"), [(-1, ""), (501, ""), (0, "page two")])
async def test_a_page_that_cannot_be_is_refused(desk: Desk, size: int, token: str) -> None:
    """The error says which field is wrong."""
    with pytest.raises(InvalidArgument) as caught:
        await desk.store.page("w", size, token)

    assert caught.value.field == ("page_token" if token else "page_size")


async def test_a_queued_job_is_cancelled_at_once(desk: Desk) -> None:
    """Nobody can lease its tasks any more; cancelling it again changes nothing."""
    job = await desk.create("a", "b")

    cancelled = await desk.store.cancel("w", job.id)

    assert (cancelled.state, cancelled.finished) == (JobState.CANCELLED, True)
    assert await desk.lease() is None
    assert await desk.store.cancel("w", job.id) == cancelled


async def test_what_is_done_stays_done_when_the_rest_is_cancelled(desk: Desk) -> None:
    """A finished task keeps its result; one in work is asked to stop and counts until it has."""
    job = await desk.create("done", "working", "waiting")
    await desk.queue.finish(await desk.leased(), {"passages": 3}, count=3)
    working = await desk.leased()

    cancelled = await desk.store.cancel("w", job.id)

    assert await desk.states(job) == [JobState.INDEXED, JobState.EXTRACTING, JobState.CANCELLED]
    assert (cancelled.state, cancelled.finished) == (JobState.EXTRACTING, False)
    await desk.queue.stop(working)
    stopped = await desk.store.job("w", job.id)
    assert (stopped.state, stopped.done_count) == (JobState.CANCELLED, 3)


async def test_a_failed_job_is_done_again_without_what_succeeded(desk: Desk) -> None:
    """Only what failed is queued again, with all its attempts before it and no error left."""
    job = await desk.create("good", "bad")
    await desk.queue.finish(await desk.leased(), {"passages": 1}, count=1)
    await desk.queue.fail(await desk.leased(), REFUSED)
    failed, tasks = await desk.store.job_with_tasks("w", job.id)
    assert failed.state is JobState.FAILED
    assert failed.finish_time is not None
    assert tasks[1].failure is not None
    assert tasks[1].failure.message == "a.pdf: no PDF"

    again = await desk.store.retry("w", job.id)

    assert (again.state, again.finish_time) == (JobState.QUEUED, None)
    leased = await desk.leased()
    assert (leased.task.subject, leased.task.attempt_count) == ("bad", 1)
    assert leased.task.failure is None
    assert await desk.lease() is None


async def test_an_older_state_is_not_brought_back_by_a_retry(desk: Desk) -> None:
    """A failed task whose subject came again later stays failed."""
    old = await desk.create("a")
    await desk.queue.fail(await desk.leased(), REFUSED)
    new = await desk.create("a")

    with pytest.raises(FailedPrecondition) as caught:
        await desk.store.retry("w", old.id)
    assert caught.value.reason == "NOTHING_TO_RETRY"

    await desk.store.cancel("w", new.id)
    assert (await desk.store.retry("w", old.id)).state is JobState.QUEUED


async def test_a_job_that_goes_on_cannot_be_retried(desk: Desk) -> None:
    """The error says in which state it is."""
    job = await desk.create("a")

    with pytest.raises(FailedPrecondition, match="queued") as caught:
        await desk.store.retry("w", job.id)

    assert caught.value.reason == "JOB_NOT_FINISHED"


async def test_only_finished_jobs_are_removed(desk: Desk) -> None:
    """A removed job hands its tasks out once, for what they left on disk."""
    finished = await desk.create("a")
    await desk.queue.finish(await desk.leased(), {})
    waiting = await desk.create("b")
    desk.clock.now += 100
    now_ms = round(desk.clock.now * 1e3)

    assert await desk.store.finished_before("ingestion", now_ms) == (finished.id,)
    assert await desk.store.finished_before("ingestion", now_ms - 200_000) == ()
    assert [task.subject for task in await desk.store.remove(finished.id)] == ["a"]
    assert await desk.store.remove(finished.id) == ()
    assert await desk.store.remove(waiting.id) == ()
    assert (await desk.store.page("w")).jobs == (waiting,)


async def test_every_change_has_a_revision_of_its_own(desk: Desk) -> None:
    """Whoever knows a revision reads exactly what changed after it."""
    job = await desk.create("a", "b")
    leased = await desk.leased()
    await desk.queue.advance(leased, JobState.EMBEDDING, total_count=7)

    changed, tasks = await desk.store.job_with_tasks("w", job.id, job.revision)

    assert changed.revision == job.revision + 2
    assert [(task.subject, task.state, task.total_count) for task in tasks] == [
        ("a", JobState.EMBEDDING, 7)
    ]
    assert changed.total_count == 7
    assert (await desk.store.job_with_tasks("w", job.id, changed.revision))[1] == ()


async def test_a_task_that_is_put_off_says_why(desk: Desk) -> None:
    """The reason of the last attempt stays visible until the next succeeds."""
    job = await desk.create("a")
    await desk.queue.defer(await desk.leased(), LOST, 5)

    _, (waiting,) = await desk.store.job_with_tasks("w", job.id)
    assert (waiting.state, waiting.failure) == (JobState.QUEUED, LOST)
    desk.clock.now += 6
    await desk.queue.finish(await desk.leased(), {})
    _, (done,) = await desk.store.job_with_tasks("w", job.id)

    assert (done.state, done.failure, done.attempt_count) == (JobState.INDEXED, None, 2)
