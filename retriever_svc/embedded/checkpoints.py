"""Empties the write-ahead log; the search thread's reader steps aside for it."""

from retriever_svc.embedded.published_state import PublishedState
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.write_ahead_log import WriteAheadLog


class Checkpoints:
    """Used by the writer thread, outside of transactions."""

    def __init__(self, store: Store, log: WriteAheadLog, worker: SearchWorker) -> None:
        self._store = store
        self._log = log
        self._worker = worker

    @property
    def due(self) -> bool:
        """Whether the log has grown enough to be moved into the database."""
        return self._log.due

    @property
    def held(self) -> bool:
        """Whether a reader kept the last checkpoint from moving everything."""
        return self._log.held

    def find_room(self) -> bool:
        """Returns whether the log may grow; looks whether the reader that held it is gone."""
        return not self._log.full or self.truncate()

    def run(self) -> bool:
        """Moves what no reader needs into the database; returns whether that was everything."""
        self._step_aside()
        emptied = self._log.checkpoint(self._store.connection)
        # Only a reader that begins after the whole log was moved lets the log start afresh.
        self._step_aside()
        return emptied

    def truncate(self) -> bool:
        """Moves everything and cuts the log to nothing; False, at once, if a reader needs it."""
        return self.run() and self._log.truncate(self._store.connection)

    def _step_aside(self) -> None:
        self._worker.submit(PublishedState.refresh).result()
