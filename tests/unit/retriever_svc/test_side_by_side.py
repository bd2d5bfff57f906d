"""Calls of a search that run side by side."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import pytest

from retriever_svc.milvus.searching.side_by_side import SideBySide


@pytest.fixture
def side_by_side() -> Iterator[SideBySide]:
    """Threads for one search."""
    with closing(SideBySide(1)) as opened:
        yield opened


def test_answers_come_in_the_order_of_the_calls(side_by_side: SideBySide) -> None:
    """Whichever ends first; none is an empty list."""
    first_may_end = threading.Event()

    def slow() -> int:
        assert first_may_end.wait(60)
        return 1

    def fast() -> int:
        first_may_end.set()
        return 2

    assert side_by_side.lists([slow, fast]) == [1, 2]
    assert side_by_side.calls([]) == []


def test_nothing_goes_on_after_a_failure(side_by_side: SideBySide) -> None:
    """The failure is raised once the other calls have ended."""
    ended: list[str] = []
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ValueError("first")

    def go_on() -> None:
        assert failed.wait(60)
        ended.append("other")

    with pytest.raises(ValueError, match="first"):
        side_by_side.lists([fail, go_on])
    assert ended == ["other"]


def test_more_searches_than_threads_are_all_answered(side_by_side: SideBySide) -> None:
    """Lists wait for calls, and calls for nobody: no search waits for itself."""

    def a_list(number: int) -> list[int]:
        return side_by_side.calls([partial(int, f"{number}{call}") for call in range(6)])

    def search(number: int) -> list[list[int]]:
        return side_by_side.lists([partial(a_list, 10 * number + one) for one in range(5)])

    with ThreadPoolExecutor(20) as searches:
        found = list(searches.map(search, range(1, 41)))

    assert found[0][0] == [100, 101, 102, 103, 104, 105]
    assert [one[-1][-1] for one in found] == [(10 * number + 4) * 10 + 5 for number in range(1, 41)]
