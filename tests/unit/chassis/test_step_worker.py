"""The worker's thread runs computations one after the other, and none for nobody."""

import asyncio
import threading
from collections.abc import AsyncIterator, Generator

import pytest

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable
from chassis.step_worker import StepWorker

Steps = Generator[None, None, str]


@pytest.fixture
async def worker() -> AsyncIterator[StepWorker]:
    """A worker that is closed after the test."""
    worker = StepWorker("test")
    yield worker
    await worker.close()


class Recorder:
    """Makes computations that note each of their steps."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.begun = threading.Event()
        self.gate = threading.Event()

    def steps(self, name: str, count: int) -> Steps:
        """Takes that many steps, and notes when it is closed before its end."""
        try:
            for number in range(count):
                self.notes.append(f"{name}{number}")
                yield
        except GeneratorExit:
            self.notes.append(f"{name} closed")
            raise
        return name

    def gated(self, name: str, count: int) -> Steps:
        """The same, but holds the thread in a first step until the gate is open."""
        self.begun.set()
        assert self.gate.wait(60)
        yield
        return (yield from self.steps(name, count))

    async def hold(self, worker: StepWorker) -> asyncio.Task[str]:
        """Puts a computation of two steps to work and waits until it holds the thread."""
        task = asyncio.create_task(worker.run(self.gated("held", 2)))
        assert await asyncio.to_thread(self.begun.wait, 60)
        return task


async def enter(worker: StepWorker, steps: Steps) -> asyncio.Task[str]:
    """Puts a computation into the queue, behind one that holds the thread."""
    count = worker.waiting_count
    task = asyncio.create_task(worker.run(steps))
    await asyncio.sleep(0)
    assert worker.waiting_count == count + 1
    return task


async def test_results_and_errors_reach_their_caller(worker: StepWorker) -> None:
    """What the computation returns or raises is what `run` returns or raises."""

    def broken() -> Steps:
        yield
        raise LookupError("nothing here")

    assert await worker.run(Recorder().steps("a", 3)) == "a"
    with pytest.raises(LookupError, match="nothing here"):
        await worker.run(broken())
    assert await worker.run(Recorder().steps("b", 0)) == "b"


async def test_computations_end_in_the_order_in_which_they_came(worker: StepWorker) -> None:
    """None begins before the one before it has ended."""
    recorder = Recorder()
    held = await recorder.hold(worker)
    first = await enter(worker, recorder.steps("first", 2))
    second = await enter(worker, recorder.steps("second", 1))
    recorder.gate.set()

    await asyncio.gather(held, first, second)

    assert recorder.notes == ["held0", "held1", "first0", "first1", "second0"]


async def test_a_cancelled_caller_leaves_nothing_in_the_queue(worker: StepWorker) -> None:
    """Its computation is closed without another step, and the others go on."""
    recorder = Recorder()
    held = await recorder.hold(worker)
    begun = recorder.steps("waiting", 2)
    next(begun)
    waiting = await enter(worker, begun)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert worker.waiting_count == 0
    recorder.gate.set()
    assert await held == "held"
    assert recorder.notes == ["waiting0", "waiting closed", "held0", "held1"]


async def test_a_caller_cancelled_during_its_step_is_dropped_after_it(worker: StepWorker) -> None:
    """The step at work cannot be stopped, but none follows it."""
    recorder = Recorder()
    held = await recorder.hold(worker)

    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    recorder.gate.set()

    assert await worker.run(recorder.steps("next", 1)) == "next"
    assert recorder.notes == ["next0"]


async def test_work_for_which_nobody_waits_any_more_is_not_begun(worker: StepWorker) -> None:
    """A computation whose deadline has passed is refused without a step."""
    recorder = Recorder()

    with pytest.raises(DeadlineExceeded):
        await worker.run(recorder.steps("late", 1), deadline=Deadline.after(0))

    assert recorder.notes == []


async def test_closing_refuses_what_waits_and_what_comes() -> None:
    """Nobody waits for ever on a worker that has been closed."""
    worker = StepWorker("test")
    recorder = Recorder()
    held = await recorder.hold(worker)
    waiting = await enter(worker, recorder.steps("waiting", 1))

    closing = asyncio.create_task(worker.close())
    with pytest.raises(Unavailable, match="stopped"):
        await waiting
    recorder.gate.set()
    await closing

    with pytest.raises(Unavailable, match="stopped"):
        await held
    with pytest.raises(Unavailable, match="stopped"):
        await worker.run(recorder.steps("new", 1))
    assert recorder.notes == []


async def test_an_unused_worker_closes() -> None:
    """Without any computation there is no thread to wait for."""
    threads = threading.active_count()
    worker = StepWorker("idle")

    assert threading.active_count() == threads
    await worker.close()
