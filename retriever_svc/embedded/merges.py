"""Shows searches the BM25 segments that tantivy has merged since the last change.

Tantivy merges on threads of its own and tells nobody. An index that has changed is therefore looked
at, after pauses that double from 50 ms, until 26 s after its last change or merge.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from retriever_svc.embedded.lexical.lexical_indexes import LexicalIndexes
from retriever_svc.embedded.published_state import Publication, PublishedState
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import read_workspace

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 13.0


@dataclass(frozen=True, slots=True)
class _Look:
    at: float
    pause_s: float


class Merges:
    """Used by the writer thread, while every workspace is shown as the store has it."""

    def __init__(
        self,
        store: Store,
        lexical: LexicalIndexes,
        worker: SearchWorker,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` gives growing seconds."""
        self._store = store
        self._lexical = lexical
        self._worker = worker
        self._clock = clock
        self._looks: dict[int, _Look] = {}

    def note_change(self, workspace_id: int) -> None:
        """Notes that the index of a workspace was committed: merges may follow."""
        self._plan(workspace_id, _FIRST_PAUSE_S)

    def forget(self, workspace_id: int) -> None:
        """Looks no more at a workspace that is deleted."""
        self._looks.pop(workspace_id, None)

    def step(self) -> float | None:
        """Looks at the indexes whose time has come; returns the seconds to the next, if any."""
        now = self._clock()
        for workspace_id, look in [*self._looks.items()]:
            if look.at > now:
                continue
            if look.pause_s < _LONGEST_PAUSE_S / 2:
                self._plan(workspace_id, 2 * look.pause_s)
            else:
                self.forget(workspace_id)
            if self._took(workspace_id):
                self._plan(workspace_id, _FIRST_PAUSE_S)
        soonest = min((look.at for look in self._looks.values()), default=None)
        return None if soonest is None else max(0.001, soonest - self._clock())

    def _plan(self, workspace_id: int, pause_s: float) -> None:
        self._looks[workspace_id] = _Look(self._clock() + pause_s, pause_s)

    def _took(self, workspace_id: int) -> bool:
        index = self._lexical.use(read_workspace(self._store.connection, workspace_id))
        if not index.take_merged():
            return False
        publication = Publication(workspace_id, (), index.searcher())
        self._worker.submit(PublishedState.publish, [publication]).result()
        return True
