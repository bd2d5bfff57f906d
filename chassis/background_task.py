"""Work beside the work: a task that lasts as long as what it serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

_log = structlog.get_logger("chassis.background_task")


@asynccontextmanager
async def background_task(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Runs `work` while inside; at the end it is cancelled and waited for.

    Work that fails is told to the log when it happens, and its error is raised at the end. A
    cancellation of the caller that comes during the wait is never swallowed.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_tell_failure)
    try:
        yield
    finally:
        task.cancel()
        # Awaiting the task itself could not tell its cancellation from that of the caller.
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def _tell_failure(task: asyncio.Task[object]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("background task failed", task=task.get_name(), exc_info=error)
