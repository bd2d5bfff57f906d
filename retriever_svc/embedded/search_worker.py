"""The one thread that searches and takes in changes.

A search takes less than a millisecond, so one thread serves all of them; and because changes are
taken in on the same thread, no search ever meets half a change.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from retriever_svc.embedded.published_state import PublishedState

P = ParamSpec("P")
R = TypeVar("R")


class SearchWorker:
    """Runs methods of the published state, in the order they are asked for."""

    def __init__(self, state: PublishedState) -> None:
        self._state = state
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="search")

    def submit(
        self,
        method: Callable[Concatenate[PublishedState, P], R],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> "Future[R]":
        """Queues `method(state, ...)`."""
        return self._executor.submit(method, self._state, *args, **kwargs)

    def close(self) -> None:
        """Finishes what is queued, then closes the state."""
        self._executor.submit(self._state.close)
        self._executor.shutdown(wait=True)
