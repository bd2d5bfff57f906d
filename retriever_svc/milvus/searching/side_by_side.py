"""Runs the calls of a search side by side: each waits for Milvus, and none needs the other."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

R = TypeVar("R")

# Lists of a search beside its first, and calls of a list beside its first.
_MORE_LISTS = 1
_MORE_CALLS = 4


class SideBySide:
    """Threads for so many searches at the same time; more of them take longer, and are answered.

    Lists run in other threads than the calls that they are made of, so that a list never waits for
    a thread that a list holds.
    """

    def __init__(self, search_count: int) -> None:
        self._lists = ThreadPoolExecutor(search_count * _MORE_LISTS, thread_name_prefix="lists")
        self._calls = ThreadPoolExecutor(search_count * _MORE_CALLS, thread_name_prefix="calls")

    def close(self) -> None:
        """Ends the threads; nothing may be under way."""
        self._lists.shutdown()
        self._calls.shutdown()

    def lists(self, made: Sequence[Callable[[], R]]) -> list[R]:
        """Makes lists; returns them in their order. Raises what the first to fail raises."""
        return _together(self._lists, made)

    def calls(self, made: Sequence[Callable[[], R]]) -> list[R]:
        """Makes calls that make no others; returns their answers, as `lists` does."""
        return _together(self._calls, made)


def _together(pool: ThreadPoolExecutor, made: Sequence[Callable[[], R]]) -> list[R]:
    if not made:
        return []
    others = [pool.submit(one) for one in made[1:]]
    try:
        first = made[0]()
    finally:
        # None may go on when the search, and what it looks at, has ended.
        wait(others)
    return [first, *(other.result() for other in others)]
