"""Merges the texts of concurrent callers into common requests, queries first.

A text waits a moment for others of its purpose, or until a request is full, or until a place is
free among the requests under way. Documents never take the last place, so that a query need not
wait for one.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded, Unavailable
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.batch_call import PieceResult
from embedder_svc.hosted.request_caps import RequestCaps

Call = Callable[
    [Sequence[str], EmbeddingPurpose, Deadline | None], Awaitable[Sequence[PieceResult]]
]


@dataclass(slots=True, eq=False)
class _Caller:
    """One caller's texts: what has come back of them, and how many are still out."""

    results: list[PieceResult | None]
    missing: int
    deadline: Deadline | None
    answered: asyncio.Future[None]


@dataclass(slots=True, eq=False)
class _Waiting:
    """One text in the queue, and where its result goes."""

    text: str
    caller: _Caller
    position: int


@dataclass(slots=True, eq=False)
class _Lane:
    """The queue of one purpose; `ripe` once its oldest text has waited long enough."""

    texts: deque[_Waiting] = field(default_factory=deque)
    ripe: bool = False
    timer: asyncio.TimerHandle | None = None


class PieceQueue:
    """Calls for many callers; used on one event loop.

    `window_s` is how long a text waits for others; `concurrency` how many requests may be under
    way at once.
    """

    def __init__(
        self, call: Call, caps: RequestCaps, *, window_s: float = 0.001, concurrency: int = 4
    ) -> None:
        self._call = call
        self._caps = caps
        self._window_s = window_s
        self._concurrency = concurrency
        self._lanes = {purpose: _Lane() for purpose in EmbeddingPurpose}
        self._under_way: set[asyncio.Task[None]] = set()
        self._closed = False

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> list[PieceResult]:
        """Returns a result for each text, in order; raises what the call raises.

        A caller that leaves, or whose deadline passes, takes back what has not been sent.
        """
        if self._closed:
            raise _stopped()
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        caller = _Caller([None] * len(texts), len(texts), deadline, answered)
        lane = self._lanes[purpose]
        lane.texts.extend(_Waiting(text, caller, at) for at, text in enumerate(texts))
        self._send()
        try:
            async with asyncio.timeout(deadline.remaining() if deadline is not None else None):
                await answered
        except TimeoutError:
            raise DeadlineExceeded("the deadline passed before the texts were embedded") from None
        return [result for result in caller.results if result is not None]

    async def close(self) -> None:
        """Ends the requests under way and refuses what waits."""
        self._closed = True
        for lane in self._lanes.values():
            if lane.timer is not None:
                lane.timer.cancel()
            for waiting in lane.texts:
                _fail(waiting.caller, _stopped())
            lane.texts.clear()
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _send(self) -> None:
        for purpose, lane in self._lanes.items():
            places = self._concurrency
            if purpose is EmbeddingPurpose.DOCUMENT:
                places = max(1, places - 1)
            while len(self._under_way) < places and (batch := self._next_batch(lane)):
                # The deadline and the request id of whoever came first are not those of the rest.
                task = asyncio.get_running_loop().create_task(
                    self._run(batch, purpose), context=contextvars.Context()
                )
                self._under_way.add(task)
                task.add_done_callback(self._ended)
            self._watch(lane)

    def _next_batch(self, lane: _Lane) -> list[_Waiting]:
        batch: list[_Waiting] = []
        room, full = self._caps.room(), False
        for waiting in lane.texts:
            if waiting.caller.answered.done():
                continue
            if not room.takes(waiting.text):
                full = True
                break
            batch.append(waiting)
        if not (full or lane.ripe or len(batch) >= self._caps.texts):
            return []
        taken = set(map(id, batch))
        while lane.texts and (id(lane.texts[0]) in taken or lane.texts[0].caller.answered.done()):
            lane.texts.popleft()
        return batch

    def _watch(self, lane: _Lane) -> None:
        if not lane.texts:
            lane.ripe = False
            if lane.timer is not None:
                lane.timer.cancel()
                lane.timer = None
        elif not lane.ripe and lane.timer is None:
            lane.timer = asyncio.get_running_loop().call_later(self._window_s, self._ripen, lane)

    def _ripen(self, lane: _Lane) -> None:
        lane.timer = None
        lane.ripe = True
        self._send()

    async def _run(self, batch: list[_Waiting], purpose: EmbeddingPurpose) -> None:
        callers = {waiting.caller for waiting in batch}
        try:
            results = await self._call(
                [waiting.text for waiting in batch], purpose, _latest(callers)
            )
        except asyncio.CancelledError:
            for caller in callers:
                _fail(caller, _stopped())
            raise
        except Exception as error:
            for caller in callers:
                _fail(caller, error)
            return
        for waiting, result in zip(batch, results, strict=True):
            waiting.caller.results[waiting.position] = result
            waiting.caller.missing -= 1
            if waiting.caller.missing == 0 and not waiting.caller.answered.done():
                waiting.caller.answered.set_result(None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not self._closed:
            self._send()


def _latest(callers: set[_Caller]) -> Deadline | None:
    """Returns the deadline that leaves the most time, None if one caller has none."""
    deadlines = [caller.deadline for caller in callers]
    given = [deadline for deadline in deadlines if deadline is not None]
    if len(given) < len(deadlines):
        return None
    return max(given, key=lambda deadline: deadline.remaining())


def _fail(caller: _Caller, error: Exception) -> None:
    if not caller.answered.done():
        caller.answered.set_exception(error)
        # A caller whose own deadline has passed meanwhile no longer asks.
        caller.answered.exception()


def _stopped() -> Unavailable:
    return Unavailable("the provider has been stopped", reason="SHUTTING_DOWN")
