"""Who waits, by workspace, and who is next."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Queue:
    """Those of one workspace who wait, in their order, and how many of it are at work."""

    workspace: str
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    at_work: int = 0
    turn: int = 0


class Turns:
    """Places at work for calls, given to workspaces in turn.

    The workspace with the fewest calls at work is next, of several the one whose last turn is the
    longest ago; within a workspace the call that came first. So one that sends ten times as many
    calls as another gets no more places than it while both have calls waiting.
    """

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}
        self._turn = 0
        self.waiting_count = 0
        self.at_work_count = 0

    def begin(self, workspace: str) -> None:
        """Takes a place."""
        queue = self._queue(workspace)
        self._take(queue)

    def end(self, workspace: str) -> None:
        """Gives a place back."""
        queue = self._queues[workspace]
        queue.at_work -= 1
        self.at_work_count -= 1
        self._forget_idle(queue)

    def wait(self, workspace: str) -> asyncio.Future[None]:
        """Joins the queue of a workspace; the future is done when the call has its place."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue(workspace).waiting.append(waiting)
        self.waiting_count += 1
        return waiting

    def leave(self, workspace: str, waiting: asyncio.Future[None]) -> None:
        """Leaves the queue without a place; whoever is not in it any more changes nothing."""
        queue = self._queues.get(workspace)
        if queue is None or waiting not in queue.waiting:
            return
        queue.waiting.remove(waiting)
        self.waiting_count -= 1
        self._forget_idle(queue)

    def give_next(self) -> None:
        """Gives a place to whoever is next, if anybody waits."""
        while self.waiting_count:
            waiting = [queue for queue in self._queues.values() if queue.waiting]
            queue = min(waiting, key=lambda each: (each.at_work, each.turn))
            first = queue.waiting.popleft()
            self.waiting_count -= 1
            # Whoever has gone meanwhile is still in the queue until its task runs.
            if not first.done():
                self._take(queue)
                first.set_result(None)
                return
            self._forget_idle(queue)

    def last_of_longest(self, workspace: str) -> asyncio.Future[None] | None:
        """Removes and returns the latest call of the longest queue.

        None where no queue is longer than that of the workspace: then its own call is too many.
        """
        longest = max(self._queues.values(), key=lambda queue: len(queue.waiting))
        own = self._queues.get(workspace)
        if len(longest.waiting) <= (len(own.waiting) if own else 0) + 1:
            return None
        self.waiting_count -= 1
        last = longest.waiting.pop()
        self._forget_idle(longest)
        return last

    def _take(self, queue: _Queue) -> None:
        self._turn += 1
        queue.turn = self._turn
        queue.at_work += 1
        self.at_work_count += 1

    def _queue(self, workspace: str) -> _Queue:
        queue = self._queues.get(workspace)
        if queue is None:
            queue = self._queues[workspace] = _Queue(workspace)
        return queue

    def _forget_idle(self, queue: _Queue) -> None:
        if not queue.at_work and not queue.waiting:
            del self._queues[queue.workspace]
