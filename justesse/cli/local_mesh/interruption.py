"""Ending work politely on Ctrl-C, SIGTERM or a closed terminal, and at once if asked again."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class InterruptedWorkError(Exception):
    """A signal ended the work; what it had to clean up is cleaned up."""


async def until_interrupted(
    work: Coroutine[Any, Any, T], first: Callable[[], None], again: Callable[[], None]
) -> T:
    """Runs `work` and returns its result.

    The first signal calls `first` and cancels the work; once the work has ended, this raises
    InterruptedWorkError. Every further signal calls `again`. To be awaited on the main thread.
    """
    task = asyncio.ensure_future(work)
    interrupted = False

    def on_signal() -> None:
        nonlocal interrupted
        if interrupted:
            again()
            return
        interrupted = True
        first()
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        return await task
    except asyncio.CancelledError:
        if interrupted:
            raise InterruptedWorkError from None
        raise
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
