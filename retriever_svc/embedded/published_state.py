"""Everything searches look at; used by the search thread alone, so a search sees whole changes."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chassis.errors import Unavailable
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.graph_building import BuildPlan
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.dense.restoration import Restoration, RestorePlan
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.embedded.lexical.lexical_searcher import LexicalSearcher
from retriever_svc.embedded.searching.known_passages import KnownPassages
from retriever_svc.embedded.searching.passage_explanation import explain_search
from retriever_svc.embedded.searching.passage_search import ListSampler, search_passages
from retriever_svc.embedded.snapshot_reader import SnapshotReader
from retriever_svc.embedded.snapshots.snapshot_place import SealedGraphs, SnapshotPlace
from retriever_svc.embedded.store.changes import Change, WorkspaceDeleted, WorkspaceUpdated
from retriever_svc.embedded.workspace_view import WorkspaceView
from retriever_svc.explanations import Explanation, ExplanationRequest
from retriever_svc.searches import SearchRequest, SearchResult
from retriever_svc.store.descriptions import described
from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import WorkspaceRow, no_such_workspace
from retriever_svc.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class Publication:
    """Holds committed changes of one workspace, in order, and the BM25 searcher that has them.

    The searcher is None where the changes end with the deletion of the workspace.
    """

    workspace_id: int
    changes: tuple[Change, ...]
    lexical: LexicalSearcher | None


@dataclass(frozen=True, slots=True)
class DueBuild:
    """Names a graph that should be built, or read from disk, for an index."""

    place: SnapshotPlace
    seq: int
    """Number of the last change of the workspace that the index shows."""
    index: SpaceIndex
    plan: BuildPlan | RestorePlan


@dataclass(frozen=True, slots=True)
class GraphsPublished:
    """Holds the graphs an index has now, and what should be built next."""

    sealed: SealedGraphs
    due: tuple[DueBuild, ...]


@dataclass(frozen=True, slots=True)
class PurgeProgress:
    """Says how far the graphs of a workspace are rid of the rows that were dead at a purge."""

    building: bool
    purged: bool
    sealed: tuple[SealedGraphs, ...]
    """The graphs of every space."""


class PublishedState:
    """The views of all workspaces, and a reader at the same state of the store."""

    def __init__(
        self,
        reader: SnapshotReader,
        settings: DenseSettings,
        sampler: ListSampler | None = None,
        *,
        passage_cache_bytes: int = 0,
    ) -> None:
        """The lists of searches are shown to the sampler."""
        self._passages = KnownPassages(passage_cache_bytes)
        self._sampler = sampler
        self._reader = reader
        self._settings = settings
        self._views: dict[int, WorkspaceView] = {}
        # Workspaces that are in the store and have no view yet.
        self._announced: dict[int, WorkspaceRow] = {}
        self._ids: dict[str, int] = {}

    def publish(self, publications: Sequence[Publication]) -> list[DueBuild]:
        """Makes changes visible to the next search; returns graphs that should be built."""
        self._reader.refresh()
        for publication in publications:
            for change in publication.changes:
                self._apply(publication, change)
            view = self._views.get(publication.workspace_id)
            if view is not None and publication.lexical is not None:
                view.lexical = publication.lexical
        return self._due(publication.workspace_id for publication in publications)

    def announce(self, row: WorkspaceRow) -> None:
        """Notes a workspace that cannot be searched yet: it is unavailable, not unknown."""
        self._announced[row.id] = row
        self._ids[row.slug] = row.id

    def install(self, view: WorkspaceView) -> list[DueBuild]:
        """Shows a workspace as it was loaded from the store, in place of any earlier view."""
        self._reader.refresh()
        self._forget(view.row.id)
        self._show(view)
        return self._due([view.row.id])

    def remove(self, workspace_id: int) -> None:
        """Shows a workspace no longer."""
        self._reader.refresh()
        self._forget(workspace_id)

    def refresh(self) -> None:
        """Lets the reader move on, so that it holds back no checkpoint."""
        self._reader.refresh()

    def publish_graph(
        self, due: DueBuild, outcome: HnswGraph | Restoration | None
    ) -> GraphsPublished:
        """Swaps in finished graphs (None: the build came to nothing)."""
        if isinstance(due.plan, BuildPlan) and isinstance(outcome, HnswGraph):
            due.index.publish(due.plan, outcome)
        elif isinstance(due.plan, RestorePlan) and isinstance(outcome, Restoration):
            due.index.restore(due.plan, outcome)
        else:
            due.index.abandon()
        view = self._views.get(due.place.workspace_id)
        seq = due.seq if view is None else view.row.seq
        # What failed is not tried again at once.
        plan = None if outcome is None else due.index.next_build()
        return GraphsPublished(
            SealedGraphs(due.place, seq, due.index.graphs),
            () if plan is None else (DueBuild(due.place, seq, due.index, plan),),
        )

    def purge(self, workspace_id: int) -> list[DueBuild]:
        """Asks for graphs without dead rows; returns those that should be built."""
        view = self._views.get(workspace_id)
        if view is not None:
            for index in view.indexes.values():
                index.purge()
        return self._due([workspace_id])

    def purge_progress(self, workspace_id: int) -> PurgeProgress:
        """Says what became of `purge`; a workspace that is gone has nothing to purge."""
        view = self._views.get(workspace_id)
        if view is None:
            return PurgeProgress(building=False, purged=True, sealed=())
        indexes = view.indexes
        return PurgeProgress(
            building=any(index.building for index in indexes.values()),
            purged=all(index.purged for index in indexes.values()),
            sealed=tuple(
                SealedGraphs(
                    SnapshotPlace(workspace_id, space.key, space.space_id, space.dimension),
                    view.row.seq,
                    indexes[space.space_id].graphs,
                )
                for space in view.row.spaces
            ),
        )

    def search(self, request: SearchRequest) -> SearchResult:
        """Finds passages. Raises NotFound and InvalidArgument."""
        started = time.perf_counter()
        view = self._view(request.workspace)
        return search_passages(view, self._reader.connection, request, started, self._sampler)

    def explain(self, request: ExplanationRequest) -> Explanation:
        """Explains a search. Raises NotFound and InvalidArgument."""
        view = self._view(request.search.workspace)
        return explain_search(view, self._reader.connection, request)

    def describe(self, slug: str) -> Workspace:
        """Describes a workspace. Raises NotFound."""
        return self._view(slug).described()

    def list_workspaces(self) -> tuple[Workspace, ...]:
        """Describes all workspaces by slug."""
        return tuple(self._described(self._ids[slug]) for slug in sorted(self._ids))

    def close(self) -> None:
        """Closes the reader."""
        self._reader.close()

    def _view(self, slug: str) -> WorkspaceView:
        workspace_id = self._ids.get(slug)
        if workspace_id is None:
            raise no_such_workspace(slug)
        if workspace_id in self._announced:
            raise Unavailable(
                f"workspace {slug!r} is not loaded yet; repeat the call",
                retry_after_s=1.0,
                reason="WORKSPACE_LOADING",
            )
        return self._views[workspace_id]

    def _described(self, workspace_id: int) -> Workspace:
        view = self._views.get(workspace_id)
        return described(self._announced[workspace_id]) if view is None else view.described()

    def _apply(self, publication: Publication, change: Change) -> None:
        if isinstance(change, DocumentChange):
            self._views[publication.workspace_id].apply(change)
            self._passages.forget(
                publication.workspace_id,
                (*change.removed, *(entry.passage_id for entry in change.entries)),
            )
        elif isinstance(change, WorkspaceUpdated):
            view = self._views[publication.workspace_id]
            # It may have another slug now.
            del self._ids[view.row.slug]
            self._ids[change.workspace.slug] = publication.workspace_id
            view.row = change.workspace
        elif isinstance(change, WorkspaceDeleted):
            self._forget(publication.workspace_id)
        elif publication.lexical is not None:
            view = WorkspaceView(change.workspace, publication.lexical, self._settings)
            self._show(view)

    def _show(self, view: WorkspaceView) -> None:
        view.reader = self._reader
        view.passages = self._passages
        self._views[view.row.id] = view
        self._ids[view.row.slug] = view.row.id

    def _forget(self, workspace_id: int) -> None:
        self._passages.forget_all()
        view = self._views.pop(workspace_id, None)
        announced = self._announced.pop(workspace_id, None)
        row = announced if view is None else view.row
        # The slug may belong to a younger workspace already.
        if row is not None and self._ids.get(row.slug) == workspace_id:
            del self._ids[row.slug]

    def _due(self, workspace_ids: Iterable[int]) -> list[DueBuild]:
        due = []
        for workspace_id in workspace_ids:
            view = self._views.get(workspace_id)
            if view is None:
                continue
            for space in view.row.spaces:
                index = view.indexes[space.space_id]
                plan = index.next_build()
                if plan is not None:
                    place = SnapshotPlace(workspace_id, space.key, space.space_id, space.dimension)
                    due.append(DueBuild(place, view.row.seq, index, plan))
        return due
