"""Named points at which a test can end the process, or let the disk fail.

They do nothing in a retriever that serves anybody: only a program made for tests calls `arm`, and
only with a variable in its environment does that do anything. A point that is not armed costs one
comparison.
"""

import os
import signal
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

VARIABLE = "JUSTESSE_FAILPOINT"


class Failpoint(StrEnum):
    """Where a change, or a piece of work in the background, may be interrupted."""

    ROWS_WRITTEN = "rows-written"
    """The rows of one change are written, its transaction is open."""
    BEFORE_COMMIT = "before-commit"
    """All rows of a group are written."""
    BEFORE_INDEX = "before-index"
    """The group is committed, no index knows of it."""
    INDEX_WRITTEN = "index-written"
    """A BM25 index is committed, the note beside it is the old one."""
    BEFORE_ACKNOWLEDGEMENT = "before-acknowledgement"
    """Every search sees the group, nobody was told."""
    DELETE_TOMBSTONED = "delete-tombstoned"
    """The search thread has removed passages from the dense indexes."""
    WORKSPACE_RETIRED = "workspace-retired"
    """A deleted workspace cannot be found, its files and rows are still there."""
    SNAPSHOT_WRITTEN = "snapshot-written"
    """A segment is in its temporary file."""
    SNAPSHOT_RENAMED = "snapshot-renamed"
    """A segment's file has its name, no manifest names it."""
    SNAPSHOT_BEFORE_MANIFEST = "snapshot-before-manifest"
    """All files of a snapshot are there, the manifest is the one before."""

    COMPACTION_BUILT = "compaction-built"
    """A BM25 index built anew is committed, the note names the one before."""
    COMPACTION_EXCHANGED = "compaction-exchanged"
    """The note names the new BM25 index, the files of the one before are still there."""
    PURGED_BEFORE_NOTE = "purged-before-note"
    """Deleted content is gone from all files, the store does not know it yet."""


class Action(StrEnum):
    """What happens at a point."""

    KILL = "kill"
    """The process ends as if it were killed from outside."""
    FSYNC_ERROR = "fsync-error"
    """SQLite says that the disk did not confirm."""


@dataclass(slots=True)
class _Armed:
    point: Failpoint
    every: int
    action: Action
    reached: int = 0

    def reach(self, point: Failpoint) -> None:
        if point is not self.point:
            return
        self.reached += 1
        if self.reached % self.every:
            return
        if self.action is Action.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        raise error


_armed: _Armed | None = None


def reach(point: Failpoint) -> None:
    """Does what the point is armed with, if it is."""
    if _armed is not None:
        _armed.reach(point)


def arm(environ: Mapping[str, str]) -> None:
    """Arms the point named as `point:every:action`, to act each `every`-th time it is reached.

    Without the variable all points are disarmed. Raises ValueError for anything else.
    """
    global _armed
    given = environ.get(VARIABLE)
    if given is None:
        _armed = None
        return
    point, every, action = given.split(":")
    if int(every) < 1:
        raise ValueError(f"{VARIABLE}={given}: the number must be 1 or more")
    _armed = _Armed(Failpoint(point), int(every), Action(action))
