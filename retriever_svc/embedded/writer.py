"""The writer thread: group commit, then publication, then acknowledgement.

Changes that wait together share one commit to the disk. Each runs in a savepoint of its own, so
one that is refused takes no other with it.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any, TypeAlias, TypeVar

import structlog

from chassis.errors import ResourceExhausted, ServiceError, Unavailable
from retriever_svc.embedded.checkpoints import Checkpoints
from retriever_svc.embedded.disk_reserve import DiskReserve
from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.publisher import Publisher
from retriever_svc.embedded.purges import Purges
from retriever_svc.embedded.store.changes import Change
from retriever_svc.embedded.store.faults import (
    disk_full,
    is_disk_full,
    leaves_doubt,
    log_full,
    service_error_from,
)
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import prune_removals
from retriever_svc.embedded.upkeep import Upkeep

R = TypeVar("R")
Operation: TypeAlias = Callable[[sqlite3.Connection], tuple[R, Change]]

_log = structlog.get_logger("retriever.writer")
_GROUP_LIMIT = 128
# Upkeep may wait so long for a moment in which no change does.
_UPKEEP_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class _Pending:
    operation: Operation[Any]
    answer: "Future[Any]"
    removing: bool


@dataclass(frozen=True, slots=True)
class _Done:
    pending: _Pending
    result: Any
    change: Change


class Writer:
    """Runs operations on the store's writing connection, one group after the other."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        checkpoints: Checkpoints,
        purges: Purges,
        upkeep: Upkeep,
        reserve: DiskReserve,
        *,
        queue_limit: int,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._checkpoints = checkpoints
        self._purges = purges
        self._upkeep = upkeep
        self._reserve = reserve
        self._queue: Queue[_Pending | None] = Queue(queue_limit)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="writer")
        self._thread.start()

    def submit(self, operation: Operation[R], *, removing: bool = False) -> "Future[R]":
        """Queues an operation; its answer comes when it is on disk and every search sees it.

        One that is `removing` may use the disk space kept aside.
        Raises ResourceExhausted if too many are waiting.
        """
        if self._closing:
            raise _stopping()
        answer: Future[R] = Future()
        try:
            self._queue.put_nowait(_Pending(operation, answer, removing))
        except Full:
            raise ResourceExhausted(
                f"{self._queue.maxsize} changes are waiting for the disk; repeat the call later",
                retry_after_s=1.0,
                reason="WRITE_QUEUE_FULL",
            ) from None
        return answer

    def close(self) -> None:
        """Finishes what is queued and ends the thread."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
            self._thread.join()
            # Whoever came in between the two must not wait for ever.
            left, _ = self._next_group(0.0)
            _fail(left, _stopping())

    def _run(self) -> None:
        wait: float | None = 0.0
        upkept = time.monotonic()
        while True:
            group, last = self._next_group(wait)
            if group:
                self._process(group)
            if last:
                return
            wait = 0.0
            if not group or time.monotonic() - upkept >= _UPKEEP_PAUSE_S:
                pause = self._upkeep.step()
                wait = wait if group else pause
                upkept = time.monotonic()

    def _next_group(self, wait: float | None) -> tuple[list[_Pending], bool]:
        """Returns operations to run together, and whether they are the last.

        Waits `wait` seconds for the first one, for ever if None.
        """
        group: list[_Pending] = []
        try:
            while len(group) < _GROUP_LIMIT:
                if group or wait == 0.0:
                    pending = self._queue.get_nowait()
                else:
                    pending = self._queue.get(timeout=wait)
                if pending is None:
                    return group, True
                if pending.answer.set_running_or_notify_cancel():
                    group.append(pending)
        except Empty:
            pass
        return group, False

    def _process(self, group: list[_Pending]) -> None:
        try:
            self._publisher.restore()
            done = self._write(self._admitted(group))
            reach(Failpoint.BEFORE_INDEX)
            failed = self._publisher.publish([one.change for one in done])
            if failed and self._reserve.release() and self._publisher.restore():
                # The indexes had lacked the disk space.
                failed = {}
            reach(Failpoint.BEFORE_ACKNOWLEDGEMENT)
            for one in done:
                error = failed.get(one.change.workspace.id)
                if error is None:
                    one.pending.answer.set_result(one.result)
                else:
                    one.pending.answer.set_exception(error)
            if self._checkpoints.due:
                self._checkpoint()
        except Exception as error:
            # Whatever was committed is loaded from the store before the next change.
            _log.exception("group of changes failed")
            self._publisher.distrust_all()
            _fail([pending for pending in group if not pending.answer.done()], error)

    def _admitted(self, group: list[_Pending]) -> list[_Pending]:
        """Refuses all but removals while the disk, or the write-ahead log, lacks room."""
        if not self._reserve.restore():
            refusal = disk_full()
        elif not self._checkpoints.find_room():
            refusal = log_full()
        else:
            return group
        _fail([pending for pending in group if not pending.removing], refusal)
        return [pending for pending in group if pending.removing]

    def _write(self, group: list[_Pending], *, chances: int = 2) -> list[_Done]:
        """Commits the group; answers those that are refused.

        A removal that finds no disk space has `chances` to get some.
        """
        try:
            return self._write_together(group)
        except ServiceError as error:
            _fail(group, error)
            return []
        except sqlite3.Error as error:
            self._store.rollback()
            waiting = [pending for pending in group if not pending.answer.done()]
            if leaves_doubt(error):
                self._store.reopen()
                self._publisher.distrust_all()
            elif len(waiting) > 1:
                # A large change that finds no space must not take the small ones with it.
                return [done for pending in waiting for done in self._write([pending])]
            elif chances and is_disk_full(error) and all(one.removing for one in waiting):
                self._make_room()
                return self._write(waiting, chances=chances - 1)
            _log.warning("changes not stored", error=str(error), count=len(waiting))
            _fail(waiting, service_error_from(error))
            return []

    def _write_together(self, group: list[_Pending]) -> list[_Done]:
        self._store.begin()
        attempts = [self._attempt(pending) for pending in group]
        done = [attempt for attempt in attempts if attempt is not None]
        for workspace_id in {one.change.workspace.id for one in done}:
            seq = self._publisher.applied_seq(workspace_id)
            prune_removals(self._store.connection, workspace_id, seq)
        self._purges.note(one.change for one in done)
        reach(Failpoint.BEFORE_COMMIT)
        self._store.commit()
        return done

    def _attempt(self, pending: _Pending) -> _Done | None:
        connection = self._store.connection
        connection.execute("SAVEPOINT operation")
        try:
            result, change = pending.operation(connection)
            reach(Failpoint.ROWS_WRITTEN)
        except sqlite3.Error:
            raise
        except Exception as error:
            connection.execute("ROLLBACK TO operation")
            connection.execute("RELEASE operation")
            pending.answer.set_exception(error)
            return None
        connection.execute("RELEASE operation")
        return _Done(pending, result, change)

    def _make_room(self) -> None:
        """Gives free what is kept aside; once that is used up, lets the log start afresh."""
        if self._reserve.release():
            _log.warning("disk space kept aside is used for deletions")
        else:
            self._checkpoint()

    def _checkpoint(self) -> None:
        try:
            self._checkpoints.run()
        except sqlite3.Error as error:
            # Everything stays in the log.
            _log.warning("write-ahead log not moved into the database", error=str(error))


def _stopping() -> ServiceError:
    return Unavailable("the retriever is stopping; repeat the call", retry_after_s=1.0)


def _fail(group: list[_Pending], error: Exception) -> None:
    for pending in group:
        pending.answer.set_exception(error)
