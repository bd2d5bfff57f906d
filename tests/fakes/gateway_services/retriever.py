"""A retriever in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chassis.errors import InvalidArgument, NotFound, ServiceError
from gateway.documents import (
    Document,
    DocumentDeletion,
    DocumentPage,
    Parent,
    Passage,
    StoredDocument,
    UpsertReport,
    VectorBlock,
)
from gateway.explanations import DocumentStandings, PassageStandings
from gateway.filter_matching import fulfils
from gateway.filters import Filter
from gateway.receipt import StageOutcome, StageReport
from gateway.searching import (
    FusedHit,
    FusedHits,
    PassageSearch,
    RankedList,
    SearchMode,
)
from gateway.workspaces import (
    Space,
    Workspace,
    WorkspaceDeletion,
    WorkspaceSettings,
    WorkspaceUpdate,
)
from tests.fakes.gateway_services.behaviour import Behaviour
from tests.fakes.gateway_services.passages import fused_hit
from tests.fakes.gateway_services.spaces import SPACE
from tests.fakes.gateway_services.transfers import TransferredWorkspaces
from tests.fakes.idle_spaces import IdleSpaces


@dataclass
class FakeRetriever(IdleSpaces, TransferredWorkspaces):
    """Holds workspaces by slug and answers searches with the passages `found`, in that order."""

    workspaces: dict[str, Workspace] = field(default_factory=dict)
    documents: dict[tuple[str, str], StoredDocument] = field(default_factory=dict)
    found: list[str] = field(default_factory=lambda: ["p1", "p2", "p3"])
    hits: list[FusedHit] | None = None
    """What is found in place of those."""
    outdated_answers: int = 0
    window_cut: bool = False
    behaviour: Behaviour = field(default_factory=Behaviour)
    searches: list[PassageSearch] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    updates: list[WorkspaceUpdate] = field(default_factory=list)
    standings: dict[str, tuple[PassageStandings, ...]] = field(default_factory=dict)
    explained: list[tuple[PassageSearch, str]] = field(default_factory=list)
    explained_seq: int = 0
    parents: dict[str, Parent] = field(default_factory=dict)
    parents_error: ServiceError | None = None
    imported: dict[str, list[bytes]] = field(default_factory=dict)
    export_error: ServiceError | None = None

    def add_workspace(
        self,
        slug: str,
        spaces: tuple[Space, ...] = (SPACE,),
        language: str = "fr",
        preset: str = "default",
    ) -> None:
        """Adds a workspace with these spaces, at spaces_version 1 more than before."""
        before = self.workspaces.get(slug)
        self.workspaces[slug] = Workspace(
            slug,
            WorkspaceSettings(language, "structure", preset),
            passage_count=3,
            spaces=spaces,
            preferred_space_id=spaces[0].space_id if spaces else "",
            spaces_version=before.spaces_version + 1 if before else 1,
        )

    def _workspace(self, slug: str) -> Workspace:
        if slug not in self.workspaces:
            raise NotFound(f"there is no workspace {slug!r}", reason="WORKSPACE_NOT_FOUND")
        return self.workspaces[slug]

    async def create_workspace(
        self, slug: str, settings: WorkspaceSettings, *, timeout: float | None = None
    ) -> Workspace:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        self.add_workspace(slug, ())
        self.workspaces[slug] = replace(self.workspaces[slug], settings=settings)
        return self.workspaces[slug]

    async def list_workspaces(self, *, timeout: float | None = None) -> tuple[Workspace, ...]:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        return tuple(self.workspaces[slug] for slug in sorted(self.workspaces))

    async def describe_workspace(self, slug: str, *, timeout: float | None = None) -> Workspace:
        """Implements the port."""
        self.described.append(slug)
        await self.behaviour.meet(timeout)
        return self._workspace(slug)

    async def update_workspace(
        self, update: WorkspaceUpdate, *, timeout: float | None = None
    ) -> Workspace:
        """Implements the port: the update's fusion replaces the one before."""
        await self.behaviour.meet(timeout)
        workspace = self._workspace(update.slug)
        self.updates.append(update)
        settings = replace(workspace.settings, fusion=update.fusion)
        self.workspaces[update.slug] = replace(workspace, settings=settings)
        return self.workspaces[update.slug]

    async def delete_workspace(
        self, slug: str, *, timeout: float | None = None
    ) -> WorkspaceDeletion:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        gone = self._workspace(slug)
        del self.workspaces[slug]
        return WorkspaceDeletion(gone.document_count, gone.passage_count, purge_within_s=3_600)

    async def read_parents(
        self, workspace: str, passage_ids: Sequence[str], *, timeout: float | None = None
    ) -> Mapping[str, Parent]:
        """Implements the port."""
        if self.parents_error is not None:
            raise self.parents_error
        return {one: self.parents[one] for one in passage_ids if one in self.parents}

    async def upsert_document(
        self,
        workspace: str,
        document: Document,
        passages: Sequence[Passage],
        vectors: Sequence[VectorBlock] = (),
        *,
        timeout: float | None = None,
    ) -> UpsertReport:
        """Is not called by the query role."""
        raise AssertionError("the query role stores no documents")

    async def get_document(
        self,
        workspace: str,
        external_id: str,
        include_passages: bool = False,
        *,
        timeout: float | None = None,
    ) -> StoredDocument:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        self._workspace(workspace)
        stored = self.documents.get((workspace, external_id))
        if stored is None:
            raise NotFound(f"there is no document {external_id!r}", reason="DOCUMENT_NOT_FOUND")
        return stored if include_passages else replace(stored, passages=())

    async def list_documents(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Implements the port; pages are numbered."""
        await self.behaviour.meet(timeout)
        self._workspace(workspace)
        ids = sorted(external_id for slug, external_id in self.documents if slug == workspace)
        start = _start(page_token)
        end = start + (page_size or 50)
        shown = [replace(self.documents[workspace, one], passages=()) for one in ids[start:end]]
        return DocumentPage(tuple(shown), str(end) if end < len(ids) else "", len(ids))

    async def find_documents(
        self,
        workspace: str,
        condition: Filter,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Implements the port, on one page."""
        page = await self.list_documents(workspace, 500, "", timeout=timeout)
        fitting = tuple(each for each in page.documents if fulfils(each.document, condition))
        return DocumentPage(fitting, "", len(fitting))

    async def delete_document(
        self, workspace: str, external_id: str, *, timeout: float | None = None
    ) -> DocumentDeletion:
        """Implements the port."""
        await self.behaviour.meet(timeout)
        self._workspace(workspace)
        gone = self.documents.pop((workspace, external_id), None)
        return DocumentDeletion(
            gone is not None, gone.passage_count if gone else 0, purge_within_s=3_600
        )

    async def search_passages(
        self, search: PassageSearch, *, timeout: float | None = None
    ) -> FusedHits:
        """Implements the port: one BM25 list and one list a vector, all with the found passages."""
        self.searches.append(search)
        await self.behaviour.meet(timeout)
        workspace = self._workspace(search.workspace)
        outdated = search.spaces_version != workspace.spaces_version
        if self.outdated_answers:
            self.outdated_answers -= 1
            outdated = True
        lists = _lists(search, outdated)
        hits = self.hits
        if hits is None:
            hits = [
                fused_hit(passage_id, rank, lists=range(len(lists)))
                for rank, passage_id in enumerate(self.found, start=1)
            ]
        return FusedHits(
            hits=tuple(hits),
            lists=tuple(lists),
            spaces=workspace.spaces,
            spaces_version=workspace.spaces_version,
            spaces_outdated=outdated,
            report=(
                StageReport("search", StageOutcome.DEGRADED, "SPACES_OUTDATED", "BM25 alone")
                if outdated
                else StageReport("search", StageOutcome.RAN, provider="embedded")
            ),
            total_count=len(hits),
            window_cut=self.window_cut,
        )

    async def explain_passages(
        self, search: PassageSearch, external_id: str, *, timeout: float | None = None
    ) -> DocumentStandings:
        """Implements the port: `standings` by document, as of `explained_seq`."""
        self.explained.append((search, external_id))
        await self.behaviour.meet(timeout)
        return DocumentStandings(self.standings.get(external_id, ()), self.explained_seq)


def _lists(search: PassageSearch, outdated: bool) -> list[RankedList]:
    lists: list[RankedList] = []
    for index, variant in enumerate(search.variants):
        if search.mode is not SearchMode.DENSE or outdated:
            lists.append(RankedList(index, "", 3, True))
        if not outdated:
            lists += [RankedList(index, query.space_id, 3, True) for query in variant.vectors]
    return lists


def _start(page_token: str) -> int:
    if page_token and not page_token.isdecimal():
        raise InvalidArgument("page_token is not one of ours", field="page_token")
    return int(page_token or 0)
