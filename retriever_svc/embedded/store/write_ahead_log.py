"""Keeps the write-ahead log of the store short.

A checkpoint moves its content into the database. It can move nothing that a reader may still need:
while a process from outside reads, the log grows, up to a limit at which changes are refused.
"""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from retriever_svc.embedded.store.connections import busy_timeout, wal_bytes
from retriever_svc.embedded.upkeep_metrics import UpkeepMetrics

_log = structlog.get_logger("retriever.store")
_CHECKPOINT_BYTES = 16 * 2**20
# How often it is tried whether a reader is gone, and from when on that is worth a line in the log.
_ATTEMPT_PAUSE_S = 1.0
_TOLD_AFTER_S = 10.0


class WriteAheadLog:
    """Used by the thread that writes, with its connection, outside of transactions."""

    def __init__(
        self,
        path: Path,
        limit_bytes: int,
        metrics: UpkeepMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`path` is that of the database."""
        self._path = path
        self._limit_bytes = limit_bytes
        self._metrics = metrics
        self._clock = clock
        # Size up to which everything is in the database already; the next commit starts afresh.
        self._moved_bytes = 0
        self._held_since: float | None = None
        self._tried_at = 0.0
        self._told = False

    @property
    def held(self) -> bool:
        """Whether a reader kept the last checkpoint from moving everything."""
        return self._held_since is not None

    @property
    def due(self) -> bool:
        """Whether a checkpoint is worth while now."""
        size = self._measured()
        if size < _CHECKPOINT_BYTES or size == self._moved_bytes:
            return False
        return not self.held or self._clock() - self._tried_at >= _ATTEMPT_PAUSE_S

    @property
    def full(self) -> bool:
        """Whether the log may not grow any more, because of a reader that does not end."""
        return self.held and self._measured() >= self._limit_bytes

    def checkpoint(self, connection: sqlite3.Connection) -> bool:
        """Moves into the database what no reader needs; returns whether that was everything."""
        _, frames, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._note(held=moved < frames)
        if not self.held:
            self._moved_bytes = self._measured()
        return not self.held

    def truncate(self, connection: sqlite3.Connection) -> bool:
        """Moves everything and cuts the file to nothing; False, at once, if a reader needs it."""
        with busy_timeout(connection, 0.0):
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._note(held=bool(busy))
        self._moved_bytes = 0
        return not self.held

    def _measured(self) -> int:
        size = wal_bytes(self._path)
        self._metrics.log_bytes.set(size)
        return size

    def _note(self, *, held: bool) -> None:
        now = self._clock()
        self._tried_at = now
        self._metrics.log_held.set(held)
        if not held:
            if self._told:
                _log.info("write-ahead log can be emptied again")
            self._held_since, self._told = None, False
            return
        if self._held_since is None:
            self._held_since = now
        if not self._told and now - self._held_since >= _TOLD_AFTER_S:
            self._told = True
            _log.warning(
                "write-ahead log cannot be emptied: somebody reads the store without an end; "
                "stop whatever has opened store.sqlite3",
                bytes=self._measured(),
                limit_bytes=self._limit_bytes,
            )
