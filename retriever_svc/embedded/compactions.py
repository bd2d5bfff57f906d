"""Decides which BM25 index is built anew, and shows it when it is there."""

from concurrent.futures import Future

import structlog

from retriever_svc.embedded.lexical.compaction import LexicalCompactor
from retriever_svc.embedded.lexical.lexical_indexes import LexicalIndexes
from retriever_svc.embedded.published_state import Publication, PublishedState
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import read_workspace

_log = structlog.get_logger("retriever.compactions")


class Compactions:
    """Used by the writer thread, while every workspace is shown as the store has it."""

    def __init__(
        self,
        store: Store,
        lexical: LexicalIndexes,
        compactor: LexicalCompactor,
        worker: SearchWorker,
    ) -> None:
        self._store = store
        self._lexical = lexical
        self._compactor = compactor
        self._worker = worker
        # Workspaces whose index has changed since it was last looked at.
        self._unchecked: set[int] = set()
        # Workspaces whose index is to be built anew however few of its entries are deleted.
        self._requested: dict[int, Future[None]] = {}
        self._answer: Future[None] | None = None

    @property
    def running(self) -> bool:
        """Whether an index is being built."""
        return self._compactor.workspace_id is not None

    def note_change(self, workspace_id: int) -> None:
        """Notes that an index may have become worth compacting."""
        self._unchecked.add(workspace_id)

    def request(self, workspace_id: int) -> "Future[None]":
        """Asks for an index without what is deleted now; done when searches see it.

        The future fails with what went wrong, and is cancelled with the workspace.
        """
        return self._requested.setdefault(workspace_id, Future())

    def first_needed_removal(self, workspace_id: int) -> int | None:
        """Returns the number of the change whose later removals must stay in the store."""
        return self._compactor.floor(workspace_id)

    def forget(self, workspace_id: int) -> None:
        """Gives up everything for a workspace that is deleted."""
        self._unchecked.discard(workspace_id)
        requested = self._requested.pop(workspace_id, None)
        if requested is not None:
            requested.cancel()
        if self._compactor.workspace_id == workspace_id:
            self._compactor.abandon(workspace_id)
            if self._answer is not None:
                self._answer.cancel()
                self._answer = None

    def step(self) -> bool:
        """Does one short piece of work; returns whether there was one."""
        if self.running:
            if self._compactor.ready:
                self._finish()
                return True
            return False
        if self._requested:
            workspace_id = next(iter(self._requested))
            self._answer = self._requested.pop(workspace_id)
            self._begin(workspace_id, whatever_share=True)
            return True
        if self._unchecked:
            self._begin(self._unchecked.pop(), whatever_share=False)
            return True
        return False

    def _begin(self, workspace_id: int, *, whatever_share: bool) -> None:
        workspace = read_workspace(self._store.connection, workspace_id)
        index = self._lexical.use(workspace)
        if whatever_share or index.compaction_due():
            self._compactor.begin(index, workspace)

    def _finish(self) -> None:
        workspace_id, answer = self._compactor.workspace_id, self._answer
        assert workspace_id is not None
        self._answer = None
        workspace = read_workspace(self._store.connection, workspace_id)
        try:
            self._compactor.finish(self._store.connection, workspace)
        except Exception as error:
            _log.exception("BM25 index not compacted", workspace_id=workspace_id)
            if answer is not None:
                answer.set_exception(error)
            return
        searcher = self._lexical.use(workspace).searcher()
        publication = Publication(workspace_id, (), searcher)
        self._worker.submit(PublishedState.publish, [publication]).result()
        self._unchecked.add(workspace_id)
        if answer is not None:
            answer.set_result(None)
