"""What the writer thread does when no change waits, and from time to time when many do."""

import sqlite3

import structlog

from retriever_svc.embedded.checkpoints import Checkpoints
from retriever_svc.embedded.compactions import Compactions
from retriever_svc.embedded.disk_reserve import DiskReserve
from retriever_svc.embedded.merges import Merges
from retriever_svc.embedded.publisher import Publisher
from retriever_svc.embedded.purges import Purges
from retriever_svc.embedded.store.deletions import purge_retired_rows
from retriever_svc.embedded.store.faults import is_disk_full
from retriever_svc.embedded.store.store import Store

_log = structlog.get_logger("retriever.upkeep")
_PURGED_ROWS = 500
_RETRY_PAUSE_S = 1.0
_NO_ROOM_PAUSE_S = 10.0
_COMPACTION_POLL_S = 0.05


class Upkeep:
    """Used by the writer thread."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        checkpoints: Checkpoints,
        compactions: Compactions,
        merges: Merges,
        purges: Purges,
        reserve: DiskReserve,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._checkpoints = checkpoints
        self._compactions = compactions
        self._merges = merges
        self._purges = purges
        self._reserve = reserve
        self._rows_left = False

    def step(self) -> float | None:
        """Does one short piece of work; returns the seconds to the next, None if there is none."""
        try:
            return self._step()
        except sqlite3.Error as error:
            self._store.distrust()
            if is_disk_full(error) and self._reserve.release():
                # What is left of a deleted workspace is removed, which may free space.
                return 0.0
            _log.warning("store failed work in the background", error=str(error))
            return _RETRY_PAUSE_S
        except Exception:
            _log.exception("work in the background failed")
            self._store.distrust()
            return _RETRY_PAUSE_S

    def _step(self) -> float | None:
        if not self._publisher.restore():
            return _RETRY_PAUSE_S
        if self._checkpoints.due:
            if self._checkpoints.held:
                # It may have grown large meanwhile.
                self._checkpoints.truncate()
            else:
                self._checkpoints.run()
        if self._delete_rows():
            return 0.0
        if not self._reserve.restore():
            # What builds anew, or empties the log, needs space before it gives any free: what is
            # left of it is for deletions.
            return _NO_ROOM_PAUSE_S
        if self._compactions.step():
            return 0.0
        waits = [
            self._purges.step(),
            self._merges.step(),
            _COMPACTION_POLL_S if self._compactions.running else None,
            _RETRY_PAUSE_S if self._checkpoints.held else None,
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    def _delete_rows(self) -> bool:
        """Deletes some rows of workspaces that are deleted; returns whether there were any."""
        self._store.begin()
        more = purge_retired_rows(self._store.connection, _PURGED_ROWS)
        self._store.commit()
        if self._rows_left and not more:
            self._purges.rows_deleted()
        self._rows_left = more
        return more
