"""A job's work is a trace of its own that leads back to the one in which it was handed in."""

from __future__ import annotations

from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Status

from chassis.errors import InvalidArgument
from chassis.tracing.export import SpanExport, spans_exported
from chassis.tracing.spans import span
from gateway.database.database import Database
from gateway.jobs.held_task import HeldTask, TaskResult
from gateway.jobs.job_changes import JobChanges
from gateway.jobs.job_store import JobStore
from gateway.jobs.task_queue import TaskQueue
from tests.fakes.job_shop import Shop
from tests.fakes.span_collector import attributes_of, span_collector


async def test_a_task_is_linked_to_its_submission(tmp_path: Path) -> None:
    """What it calls is below its own span; one that fails is told as failed, without its words;
    one that was handed in while no spans were made has no link."""

    async def work(_held: HeldTask) -> TaskResult:
        with span("step"):
            return TaskResult({}, 1)

    async def refuse(_held: HeldTask) -> TaskResult:
        raise InvalidArgument("secret.pdf: no PDF", reason="FILE_UNREADABLE")

    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'gateway.sqlite'}")
    await database.prepare()
    changes = JobChanges()
    shop = Shop(
        JobStore(database, tell=changes.tell), TaskQueue(database, tell=changes.tell), changes
    )
    shop.steps |= {"fine": work, "bad": refuse}
    earlier = await shop.create("earlier")
    with span_collector() as collector:
        with spans_exported(SpanExport("ingestion", collector.url)):
            async with shop.runner():
                await shop.finished(earlier)
                with span("submission"):
                    job = await shop.create("fine", "bad")
                await shop.finished(job)
        submission = collector.only("submission")
        tasks = collector.named("task ingestion")
        step = collector.only("step")
    await database.close()

    unlinked = [one for one in tasks if not one.links]
    linked = [one for one in tasks if one.links]
    assert (len(unlinked), len(linked)) == (1, 2)
    for one in linked:
        (link,) = one.links
        assert (link.trace_id, link.span_id) == (submission.trace_id, submission.span_id)
        assert one.trace_id != submission.trace_id
    (fine,) = [one for one in linked if one.span_id == step.parent_span_id]
    (bad,) = [one for one in linked if one is not fine]
    assert attributes_of(fine)["justesse.task.outcome"] == "indexed"
    assert bad.status.code == Status.STATUS_CODE_ERROR
    assert b"secret" not in bad.SerializeToString()
