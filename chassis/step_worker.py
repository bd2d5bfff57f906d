"""One thread that runs long computations in small steps, one computation after the other.

A computation is a generator: it yields wherever it may be ended early, and returns its result.
Between two steps the worker drops a computation whose caller has gone or whose time is over, so
that a long batch holds the thread no longer than somebody waits for it.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable

Result = TypeVar("Result")
Steps = Generator[None, None, Result]


@dataclass(slots=True, eq=False)
class _Job:
    steps: Steps[Any]
    deadline: Deadline | None
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    withdrawn: bool = False


class StepWorker:
    """Runs computations on one thread of its own, for callers on event loops.

    The thread starts with the first computation and ends with `close`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, steps: Steps[Result], *, deadline: Deadline | None = None) -> Result:
        """Returns what the computation returns, or raises what it raises.

        A caller that is cancelled takes its computation out of the queue, or ends it after the
        step at work. Raises
        DeadlineExceeded if the deadline passes before the last step, Unavailable after `close`.
        """
        loop = asyncio.get_running_loop()
        job = self._enter(steps, deadline, loop)
        try:
            result: Result = await job.future
        except asyncio.CancelledError:
            self._withdraw(job)
            raise
        return result

    @property
    def waiting_count(self) -> int:
        """Computations that wait for their first step."""
        with self._changed:
            return len(self._waiting)

    async def close(self) -> None:
        """Refuses what waits, lets the step at work finish and ends the thread."""
        with self._changed:
            self._closed = True
            refused, self._waiting = self._waiting, deque()
            self._changed.notify_all()
            thread = self._thread
        for job in refused:
            job.steps.close()
            _settle(job, None, self._stopped())
        if thread is not None:
            await asyncio.to_thread(thread.join)

    def _enter(
        self, steps: Steps[Any], deadline: Deadline | None, loop: asyncio.AbstractEventLoop
    ) -> _Job:
        with self._changed:
            if self._closed:
                raise self._stopped()
            job = _Job(steps, deadline, loop, loop.create_future())
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()
        return job

    def _withdraw(self, job: _Job) -> None:
        with self._changed:
            job.withdrawn = True
            if job not in self._waiting:
                return  # at work or done: the thread drops it after the step
            self._waiting.remove(job)
        job.steps.close()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            while self._advance(job):
                pass

    def _next(self) -> _Job | None:
        with self._changed:
            while not self._waiting:
                if self._closed:
                    return None
                self._changed.wait()
            return self._waiting.popleft()

    def _advance(self, job: _Job) -> bool:
        """Takes one step; returns whether another may follow."""
        if job.deadline is not None and job.deadline.expired:
            job.steps.close()
            _settle(job, None, DeadlineExceeded("the deadline passed before the work was done"))
            return False
        try:
            next(job.steps)
        except StopIteration as end:
            _settle(job, end.value, None)
        except Exception as error:
            _settle(job, None, error)
        else:
            return self._is_wanted(job)
        return False

    def _is_wanted(self, job: _Job) -> bool:
        with self._changed:
            wanted = not job.withdrawn and not self._closed
        if not wanted:
            job.steps.close()
            _settle(job, None, self._stopped())
        return wanted

    def _stopped(self) -> Unavailable:
        return Unavailable(f"the {self._name} worker has been stopped", reason="SHUTTING_DOWN")


def _settle(job: _Job, result: Any, error: Exception | None) -> None:
    def settle() -> None:
        if job.future.done():
            return
        if error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(result)

    try:
        job.loop.call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop has been closed, so nobody waits for the answer any more.
        if not job.loop.is_closed():
            raise
