"""Keeps the gauges of what waits in the queue and what is in work, over all processes."""

from __future__ import annotations

import asyncio

import structlog

from chassis.errors import ServiceError
from gateway.jobs.job import IN_WORK, JobState
from gateway.jobs.job_metrics import JobMetrics
from gateway.jobs.task_queue import TaskQueue

INTERVAL_S = 15.0

_log = structlog.get_logger("gateway.jobs")


async def keep_counting(
    queue: TaskQueue, kind: str, metrics: JobMetrics, *, interval_s: float = INTERVAL_S
) -> None:
    """Counts the unfinished tasks of a kind now and then, for ever."""
    while True:
        try:
            counts = await queue.counts(kind)
        except ServiceError as error:
            _log.warning("queue not counted", reason=error.reason, error=error.message)
        else:
            for state in (JobState.QUEUED, *IN_WORK):
                metrics.unfinished.labels(kind, state.value).set(counts.get(state, 0))
        await asyncio.sleep(interval_s)
