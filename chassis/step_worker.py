"""One thread that runs long computations in small steps, the urgent ones first.

A computation is a generator: it yields wherever another one may go first, and returns its result.
Between two steps the worker turns to the waiting computation of lowest rank, and among equals to
the one that came first. So a long batch delays an urgent one by a step, not by its whole length.
"""

import asyncio
import heapq
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable

Result = TypeVar("Result")
Steps = Generator[None, None, Result]


@dataclass(slots=True, order=True)
class _Job:
    rank: int
    arrival: int
    steps: Steps[Any] = field(compare=False)
    deadline: Deadline | None = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)
    future: asyncio.Future[Any] = field(compare=False)
    withdrawn: bool = field(default=False, compare=False)


class StepWorker:
    """Runs computations on one thread of its own, for callers on event loops.

    The thread starts with the first computation and ends with `close`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: list[_Job] = []
        self._arrivals = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(
        self, steps: Steps[Result], *, rank: int = 0, deadline: Deadline | None = None
    ) -> Result:
        """Returns what the computation returns, or raises what it raises.

        A caller that is cancelled takes its remaining steps out of the queue. Raises
        DeadlineExceeded if the deadline passes before the last step, Unavailable after `close`.
        """
        loop = asyncio.get_running_loop()
        job = self._enter(steps, rank, deadline, loop)
        try:
            result: Result = await job.future
        except asyncio.CancelledError:
            self._withdraw(job)
            raise
        return result

    @property
    def waiting_count(self) -> int:
        """Computations that wait for their next step; the one at work is not among them."""
        with self._changed:
            return len(self._waiting)

    async def close(self) -> None:
        """Refuses what waits, lets the step at work finish and ends the thread."""
        with self._changed:
            self._closed = True
            refused, self._waiting = self._waiting, []
            self._changed.notify_all()
            thread = self._thread
        for job in refused:
            job.steps.close()
            _settle(job, None, self._stopped())
        if thread is not None:
            await asyncio.to_thread(thread.join)

    def _enter(
        self,
        steps: Steps[Any],
        rank: int,
        deadline: Deadline | None,
        loop: asyncio.AbstractEventLoop,
    ) -> _Job:
        with self._changed:
            if self._closed:
                raise self._stopped()
            self._arrivals += 1
            job = _Job(rank, self._arrivals, steps, deadline, loop, loop.create_future())
            heapq.heappush(self._waiting, job)
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
            heapq.heapify(self._waiting)
        job.steps.close()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._advance(job)

    def _next(self) -> _Job | None:
        with self._changed:
            while not self._waiting:
                if self._closed:
                    return None
                self._changed.wait()
            return heapq.heappop(self._waiting)

    def _advance(self, job: _Job) -> None:
        if job.deadline is not None and job.deadline.expired:
            job.steps.close()
            _settle(job, None, DeadlineExceeded("the deadline passed before the work was done"))
            return
        try:
            next(job.steps)
        except StopIteration as end:
            _settle(job, end.value, None)
        except Exception as error:
            _settle(job, None, error)
        else:
            self._put_back(job)

    def _put_back(self, job: _Job) -> None:
        with self._changed:
            wanted = not job.withdrawn and not self._closed
            if wanted:
                heapq.heappush(self._waiting, job)
        if not wanted:
            job.steps.close()
            _settle(job, None, self._stopped())

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
