"""A retriever in memory, as far as the ingestion role asks one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chassis.errors import NotFound, ServiceError
from gateway.documents import (
    Document,
    DocumentPage,
    Passage,
    StoredDocument,
    StoredPassage,
    UpsertOutcome,
    UpsertReport,
    VectorBlock,
)
from gateway.filters import Filter
from gateway.workspaces import Workspace, WorkspaceSettings
from tests.fakes.idle_spaces import IdleSpaces


@dataclass
class FakePassageStore(IdleSpaces):
    """Keeps documents with the spaces and the number of windows of their passages, by the rules of
    the contract.

    The space of the first vector becomes the workspace's preferred one. `upsert_error` fails every
    upsert, `passages_error` every reading of passages.
    """

    workspaces: dict[str, Workspace] = field(default_factory=dict)
    documents: dict[tuple[str, str], StoredDocument] = field(default_factory=dict)
    upserts: list[Document] = field(default_factory=list)
    window_counts: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    upsert_error: ServiceError | None = None
    passages_error: ServiceError | None = None

    def add_workspace(
        self, slug: str, language: str = "fr", profile: str = "structure", preferred: str = ""
    ) -> None:
        """Adds an empty workspace."""
        settings = WorkspaceSettings(language, profile)
        self.workspaces[slug] = Workspace(slug, settings, preferred_space_id=preferred)

    def passages(self, workspace: str, external_id: str) -> list[Passage]:
        """Returns the passages of a document."""
        stored = self.documents[workspace, external_id]
        return [one.passage for one in stored.passages]

    def spaces(self, workspace: str, external_id: str) -> list[tuple[str, ...]]:
        """Returns the spaces of each passage of a document."""
        return [one.space_ids for one in self.documents[workspace, external_id].passages]

    async def describe_workspace(self, slug: str, *, timeout: float | None = None) -> Workspace:
        """Implements the port."""
        if slug not in self.workspaces:
            raise NotFound(f"there is no workspace {slug!r}", reason="WORKSPACE_NOT_FOUND")
        return self.workspaces[slug]

    async def get_document(
        self,
        workspace: str,
        external_id: str,
        include_passages: bool = False,
        *,
        timeout: float | None = None,
    ) -> StoredDocument:
        """Implements the port."""
        stored = self.documents.get((workspace, external_id))
        if stored is None:
            raise NotFound(f"there is no document {external_id!r}", reason="DOCUMENT_NOT_FOUND")
        if not include_passages:
            return replace(stored, passages=())
        if self.passages_error is not None:
            raise self.passages_error
        return stored

    async def list_documents(
        self,
        workspace: str,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Implements the port; a page holds one document, so that every reader has to turn it."""
        await self.describe_workspace(workspace)
        ids = sorted(one for slug, one in self.documents if slug == workspace)
        place = int(page_token or 0)
        documents = tuple(self.documents[workspace, one] for one in ids[place : place + 1])
        return DocumentPage(documents, str(place + 1) if place + 1 < len(ids) else "", len(ids))

    async def find_documents(
        self,
        workspace: str,
        condition: Filter,
        page_size: int = 0,
        page_token: str = "",
        *,
        timeout: float | None = None,
    ) -> DocumentPage:
        """Is not called by the ingestion role."""
        raise AssertionError("the ingestion role looks for no documents")

    async def upsert_document(
        self,
        workspace: str,
        document: Document,
        passages: Sequence[Passage],
        vectors: Sequence[VectorBlock] = (),
        *,
        timeout: float | None = None,
    ) -> UpsertReport:
        """Implements the port."""
        if self.upsert_error is not None:
            raise self.upsert_error
        self.upserts.append(document)
        before = self.documents.get((workspace, document.external_id))
        if before is not None and before.document.content_hash == document.content_hash:
            return UpsertReport(
                UpsertOutcome.UNCHANGED, before.passage_count, self._waiting(before)
            )
        given = _given_spaces(passages, vectors)
        counts = _given_windows(vectors)
        old = {
            one.passage.embedded_text_hash: one.space_ids
            for one in (before.passages if before is not None else ())
        }
        kept = [
            () if given[at] else old.get(p.embedded_text_hash, ()) for at, p in enumerate(passages)
        ]
        old_windows = self._windows_by_text(workspace, document.external_id)
        self.window_counts[workspace, document.external_id] = [
            counts.get(at, 0) if given[at] else old_windows.get(p.embedded_text_hash, 0)
            for at, p in enumerate(passages)
        ]
        stored = StoredDocument(
            document,
            len(passages),
            passages=tuple(
                StoredPassage(f"p{at}", passage, given[at] or kept[at])
                for at, passage in enumerate(passages)
            ),
        )
        self.documents[workspace, document.external_id] = stored
        self._prefer(workspace, vectors)
        return UpsertReport(
            UpsertOutcome.CREATED if before is None else UpsertOutcome.REPLACED,
            len(passages),
            self._waiting(stored),
            sum(map(bool, kept)),
        )

    def _windows_by_text(self, workspace: str, external_id: str) -> dict[str, int]:
        before = self.documents.get((workspace, external_id))
        counts = self.window_counts.get((workspace, external_id), [])
        passages = before.passages if before is not None else ()
        return {
            one.passage.embedded_text_hash: count
            for one, count in zip(passages, counts, strict=True)
        }

    def _prefer(self, workspace: str, vectors: Sequence[VectorBlock]) -> None:
        found = self.workspaces[workspace]
        if vectors and not found.preferred_space_id:
            first = vectors[0].space_id
            self.workspaces[workspace] = replace(found, preferred_space_id=first)

    @staticmethod
    def _waiting(stored: StoredDocument) -> int:
        return sum(not one.space_ids for one in stored.passages)


def _given_spaces(
    passages: Sequence[Passage], vectors: Sequence[VectorBlock]
) -> list[tuple[str, ...]]:
    """Returns the spaces of the vectors that came for each passage; checks their places."""
    given: list[tuple[str, ...]] = [() for _ in passages]
    for block in vectors:
        positions = block.passage_positions or tuple(range(len(block.vectors)))
        assert list(positions) == sorted(set(positions))
        assert len(positions) == len(block.vectors)
        for position in positions:
            given[position] = (*given[position], block.space_id)
    return given


def _given_windows(vectors: Sequence[VectorBlock]) -> dict[int, int]:
    """Returns the number of windows that came for passages; checks that their vectors did."""
    counts: dict[int, int] = {}
    for block in vectors:
        held = 0 if block.window_vectors is None else len(block.window_vectors)
        assert sum(block.window_counts) == held
        positions = block.passage_positions or tuple(range(len(block.vectors)))
        if block.window_counts:
            counts.update(zip(positions, block.window_counts, strict=True))
    return counts
