"""Brings committed changes to the indexes, and indexes that failed back to the store's state."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from chassis.errors import ServiceError, Unavailable
from retriever_svc.embedded.compactions import Compactions
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.failpoints import Failpoint, reach
from retriever_svc.embedded.lexical.catch_up import catch_up
from retriever_svc.embedded.lexical.lexical_indexes import LexicalIndexes
from retriever_svc.embedded.merges import Merges
from retriever_svc.embedded.published_state import DueBuild, Publication, PublishedState
from retriever_svc.embedded.search_worker import SearchWorker
from retriever_svc.embedded.snapshots.snapshots import Snapshots
from retriever_svc.embedded.store.changes import Change, WorkspaceDeleted
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import read_workspaces
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import WorkspaceRow

_log = structlog.get_logger("retriever.publisher")


@dataclass(slots=True)
class _WorkspaceChanges:
    changes: list[Change] = field(default_factory=list)

    @property
    def last(self) -> WorkspaceRow:
        return self.changes[-1].workspace

    @property
    def deleted(self) -> bool:
        return isinstance(self.changes[-1], WorkspaceDeleted)


class Publisher:
    """Used by the writer thread; waits until the search thread shows what was committed."""

    def __init__(
        self,
        store: Store,
        lexical: LexicalIndexes,
        compactions: Compactions,
        merges: Merges,
        worker: SearchWorker,
        snapshots: Snapshots,
        settings: DenseSettings,
        build: Callable[[Iterable[DueBuild]], None],
    ) -> None:
        self._store = store
        self._lexical = lexical
        self._compactions = compactions
        self._merges = merges
        self._worker = worker
        self._snapshots = snapshots
        self._settings = settings
        self._build = build
        self._stale: set[int] = set()
        self._all_stale = False

    def publish(self, changes: Sequence[Change]) -> dict[int, ServiceError]:
        """Returns when every search sees the committed changes.

        Workspaces whose indexes failed are in the result with the error for those who wait; they
        are shown as before until `restore` has brought them up to date.
        """
        by_workspace: dict[int, _WorkspaceChanges] = defaultdict(_WorkspaceChanges)
        for change in changes:
            by_workspace[change.workspace.id].changes.append(change)
        publications, failed = [], {}
        for workspace_id, changed in by_workspace.items():
            try:
                publications.append(self._applied(changed))
            except Exception:
                _log.exception("changes not indexed", workspace_id=workspace_id)
                self._stale.add(workspace_id)
                failed[workspace_id] = _behind()
        self._build(self._worker.submit(PublishedState.publish, publications).result())
        for workspace_id, changed in by_workspace.items():
            if changed.deleted:
                self._forget(workspace_id)
            else:
                self._compactions.note_change(workspace_id)
                self._merges.note_change(workspace_id)
                self._keep_snapshots(changed.last)
        self._lexical.rest_unused()
        return failed

    def restore(self) -> bool:
        """Loads stale workspaces from the store; returns whether none is left."""
        if not self._stale and not self._all_stale:
            return True
        rows = {row.id: row for row in read_workspaces(self._store.connection)}
        if self._all_stale:
            self._stale.update(rows)
            self._all_stale = False
        for workspace_id in sorted(self._stale):
            try:
                self._restore(rows.get(workspace_id), workspace_id)
            except Exception:
                _log.exception("index not restored", workspace_id=workspace_id)
            else:
                self._stale.discard(workspace_id)
        return not self._stale

    def distrust_all(self) -> None:
        """Notes that no view is known to show what the store holds."""
        self._all_stale = True

    def load_all(self) -> None:
        """Shows every workspace of the store; for the start.

        One that cannot be loaded takes no other with it: it is unavailable until `restore`.
        """
        rows = {row.id: row for row in read_workspaces(self._store.connection)}
        self._lexical.sweep(rows)
        self._snapshots.sweep()
        for row in rows.values():
            self._worker.submit(PublishedState.announce, row).result()
        self._stale.update(rows)
        self.restore()

    def applied_seq(self, workspace_id: int) -> int:
        """Returns the number of the last change that every index on disk has, or is made of."""
        seq = self._lexical.seq_of(workspace_id)
        needed = self._compactions.first_needed_removal(workspace_id)
        return seq if needed is None else min(seq, needed)

    def _applied(self, changed: _WorkspaceChanges) -> Publication:
        workspace = changed.last
        if (workspace.id in self._stale or self._all_stale) and not changed.deleted:
            raise _behind()
        if changed.deleted:
            return Publication(workspace.id, (changed.changes[-1],), None)
        index = self._lexical.use(workspace)
        try:
            for change in changed.changes:
                if isinstance(change, DocumentChange):
                    index.apply(change.removed, change.entries)
            if index.seq != workspace.seq:
                index.commit(workspace.seq)
        except BaseException:
            index.discard()
            raise
        return Publication(workspace.id, tuple(changed.changes), index.searcher())

    def _restore(self, row: WorkspaceRow | None, workspace_id: int) -> None:
        if row is None:
            self._worker.submit(PublishedState.remove, workspace_id).result()
            self._forget(workspace_id)
            return
        index = self._lexical.use(row)
        try:
            catch_up(index, self._store.connection, row)
        except BaseException:
            index.discard()
            raise
        self._compactions.note_change(workspace_id)
        self._merges.note_change(workspace_id)
        self._keep_snapshots(row)
        view = WorkspaceView(row, index.searcher(), self._settings)
        view.load(self._store.connection)
        self._build(self._worker.submit(PublishedState.install, view).result())

    def _keep_snapshots(self, row: WorkspaceRow) -> None:
        kind = row.settings.dense_index_kind
        self._snapshots.keep(
            row.id,
            [
                space.key
                for space in row.spaces
                if self._settings.may_have_graphs(kind, space.passage_count, space.dimension)
            ],
        )

    def _forget(self, workspace_id: int) -> None:
        self._snapshots.forget(workspace_id)
        self._stale.discard(workspace_id)
        self._compactions.forget(workspace_id)
        self._merges.forget(workspace_id)
        reach(Failpoint.WORKSPACE_RETIRED)
        try:
            self._lexical.remove(workspace_id)
        except OSError:
            # Nobody can find anything through them; the next start sweeps them away.
            _log.exception("files of a deleted workspace stay", workspace_id=workspace_id)


def _behind() -> ServiceError:
    return Unavailable(
        "the change is stored, but the search index did not take it in yet; repeat the call",
        retry_after_s=1.0,
        reason="INDEX_BEHIND",
    )
