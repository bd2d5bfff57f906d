"""The disk space kept aside, and the points where tests interrupt the retriever."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from retriever_svc.embedded.disk_reserve import DiskReserve
from retriever_svc.embedded.failpoints import VARIABLE, Failpoint, arm, reach

SIZE = 100_000


def test_space_is_really_taken_and_given_free(tmp_path: Path) -> None:
    """The blocks are the file's own, not promised ones, and are gone when released."""
    path = tmp_path / "reserve"
    reserve = DiskReserve(path, SIZE)
    before = reserve.release()
    taken = reserve.restore()
    blocks = path.stat().st_blocks

    assert not before
    assert taken
    assert blocks * 512 >= SIZE
    assert reserve.release()
    assert not path.exists()


def test_what_an_earlier_process_left_is_given_free(tmp_path: Path) -> None:
    """A start on a full disk finds the space."""
    path = tmp_path / "reserve"
    DiskReserve(path, SIZE).restore()
    DiskReserve(path, SIZE)

    assert not path.exists()


def test_a_disk_without_space_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be taken whole is not taken at all, and is taken later."""

    def failing(descriptor: int, offset: int, size: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "reserve"
    reserve = DiskReserve(path, SIZE)
    with monkeypatch.context() as full:
        full.setattr(os, "posix_fallocate", failing, raising=False)
        refused = reserve.restore()
        left = path.exists()

    assert not refused
    assert not left
    assert reserve.restore()


def test_a_size_of_zero_keeps_nothing_aside(tmp_path: Path) -> None:
    """Then writes are never held back, and there is nothing to give free."""
    reserve = DiskReserve(tmp_path / "reserve", 0)

    assert reserve.restore()
    assert not reserve.release()
    assert not (tmp_path / "reserve").exists()


@pytest.fixture
def disarmed() -> Iterator[None]:
    """Leaves no point armed."""
    yield
    arm({})


@pytest.mark.usefixtures("disarmed")
def test_an_armed_point_acts_each_nth_time() -> None:
    """Others, and the times between, pass."""
    arm({VARIABLE: "before-commit:2:fsync-error"})
    for _ in range(2):
        reach(Failpoint.ROWS_WRITTEN)
        reach(Failpoint.ROWS_WRITTEN)
        reach(Failpoint.BEFORE_COMMIT)
        with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
            reach(Failpoint.BEFORE_COMMIT)


@pytest.mark.usefixtures("disarmed")
@pytest.mark.parametrize("given", ["before-commit", "nowhere:1:kill", "before-commit:0:kill"])
def test_a_mistyped_point_is_refused(given: str) -> None:
    """A test that armed nothing would prove nothing."""
    with pytest.raises(ValueError):  # noqa: PT011 - each comes from another check
        arm({VARIABLE: given})


def test_nobody_but_tests_arms_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable alone does nothing: the service's own program never reads it."""
    monkeypatch.setenv(VARIABLE, "before-commit:1:fsync-error")
    program = (Path(__file__).parents[3] / "retriever_svc" / "__main__.py").read_text()
    reach(Failpoint.BEFORE_COMMIT)

    assert "failpoint" not in program
