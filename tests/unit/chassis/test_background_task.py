"""Work in the background ends with what it serves, and hides neither failures nor cancellations."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from chassis.background_task import background_task


async def test_it_runs_while_inside_and_is_over_afterwards() -> None:
    """The end waits until the work has cleaned up after itself."""
    told: list[str] = []

    async def work() -> None:
        told.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append("cleaned up")

    async with background_task(work()):
        await asyncio.sleep(0)
        told.append("inside")

    assert told == ["begun", "inside", "cleaned up"]


async def test_a_cancellation_of_the_caller_during_the_end_gets_through() -> None:
    """Work that takes its time to end must not keep whoever waits for it from being cancelled."""
    ending, went_on = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await asyncio.Event().wait()

    async def serve() -> None:
        async with background_task(work()):
            await asyncio.sleep(0)
        went_on.set()

    serving = asyncio.create_task(serve())
    await ending.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving

    assert serving.cancelled()
    assert not went_on.is_set()


async def fail(error: Exception) -> None:
    """Work that ends at once."""
    raise error


async def test_work_that_fails_is_told_at_once_and_raised_at_the_end() -> None:
    """Nobody awaits the work while it is needed, so the log has to tell."""
    told: list[str] = []

    async def serve() -> None:
        async with background_task(fail(RuntimeError("no more checks"))):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            told.extend(entry["event"] for entry in entries)

    with capture_logs() as entries, pytest.raises(RuntimeError, match="no more checks"):
        await serve()

    assert told == ["background task failed"]


async def test_the_error_of_what_it_serves_comes_first() -> None:
    """An error inside reaches the caller, whatever became of the work."""

    async def serve() -> None:
        async with background_task(fail(RuntimeError("secondary"))):
            await asyncio.sleep(0)
            raise ValueError("primary")

    with pytest.raises(ValueError, match="primary"):
        await serve()
