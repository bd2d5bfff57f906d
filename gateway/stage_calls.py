"""The calls of each stage of one question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.documents import FloatMatrix
from gateway.glossary.board import GlossaryBoard
from gateway.hits import candidates_of
from gateway.known_workspaces import KnownWorkspace, KnownWorkspaces
from gateway.page_tokens import KeptOrder
from gateway.ports import PassageIndex, Reranker, Rewriter
from gateway.presets.applied import as_preset_says
from gateway.query_vectors import QueryVectors
from gateway.questions import Hit, Question
from gateway.receipt import StageOutcome
from gateway.reranking import Ranking
from gateway.rewriting import Wording, Wordings
from gateway.searching import FusedHits, PassageSearch, QueryVariant, QueryVector, SearchMode
from gateway.stages import Stages
from gateway.switches.values import HYBRID_SEARCH, QUERY_REWRITE, RERANKING, SwitchValues
from gateway.workspaces import Space

MAX_CANDIDATES = 200
"""Fused hits that are fetched: the most that a reranker takes."""

LATER_PAGE = "LATER_PAGE"
"""Reason why a stage had nothing to do: the first page's result is kept."""

PlacedVectors = dict[tuple[str, str], FloatMatrix]
"""Query vectors, float32 of shape (dimension,), by wording and space id."""


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search is made with."""

    rewriter: Rewriter
    index: PassageIndex
    reranker: Reranker
    vectors: QueryVectors
    workspaces: KnownWorkspaces
    glossaries: GlossaryBoard


@dataclass(frozen=True, slots=True)
class StageCalls:
    """Calls the services for one question, as its switches say."""

    parts: SearchParts
    question: Question
    switches: SwitchValues
    stages: Stages
    include_formula_parts: bool = False

    async def look_up_workspace(self, *, share: float) -> KnownWorkspace:
        """Returns what is known of the workspace; NotFound where there is none."""
        known = self.parts.workspaces.known(self.question.workspace)
        if known is not None:
            return known
        return await self.stages.required(
            "search",
            lambda timeout: self.parts.workspaces.get(self.question.workspace, timeout),
            share=share,
        )

    def as_preset_says(self, known: KnownWorkspace) -> StageCalls:
        """Returns the calls for the question with what the workspace's preset adds to it."""
        question, switches = as_preset_says(self.question, self.switches, known)
        return replace(self, question=question, switches=switches)

    async def rewrite(self, language: str, kept: KeptOrder | None, *, share: float) -> Wordings:
        """Returns the original wording and, where there are some, the others to search with.

        A later page keeps the wordings of the first.
        """
        if kept is not None:
            self.stages.skipped("rewrite", LATER_PAGE, "the wordings of the first page are kept")
            return Wordings(kept.wordings, kept.wordings[0].text)
        if not self.switches.query_rewrite_enabled:
            self.stages.switched_off("rewrite", QUERY_REWRITE.key)
            return Wordings.unchanged(self.question.query)
        question = self.question
        glossary = self.parts.glossaries.matching(
            question.workspace, language, question.query, question.history
        )
        rewrite = await self.stages.optional(
            "rewrite",
            lambda timeout: self.parts.rewriter.rewrite(
                question.query,
                workspace=question.workspace,
                language=language,
                history=question.history,
                glossary=glossary,
                timeout=timeout,
            ),
            share=share,
        )
        if rewrite is None:
            return Wordings.unchanged(question.query)
        wordings = Wordings.rewritten(question.query, rewrite)
        if rewrite.report.outcome is StageOutcome.RAN and (words := wordings.explanation()):
            self.stages.explained("rewrite", words)
        return wordings

    async def embed(self, spaces: Sequence[Space], *, share: float) -> PlacedVectors:
        """Embeds the original wording for each space; a space that fails is left out."""
        if not spaces:
            self.stages.skipped("embed", "NO_SPACES", "the workspace holds no vectors yet")
        return await self._embed_each([self.question.query], spaces, share)

    async def embed_rewritten(
        self, wordings: Wordings, spaces: Sequence[Space], vectors: PlacedVectors, *, share: float
    ) -> PlacedVectors:
        """Embeds the other wordings for the spaces that have a vector of the original."""
        answering = [space for space in spaces if self._has_original(space, vectors)]
        others = [text for text in _embedded(wordings) if text != self.question.query]
        return await self._embed_each(others, answering, share)

    async def search(
        self, wordings: Wordings, known: KnownWorkspace, vectors: PlacedVectors, *, share: float
    ) -> tuple[PassageSearch, FusedHits]:
        """Searches, and once more where the workspace's spaces were others than those known.

        Returns the last search and what it found.
        """
        search, fused = await self._search_once(wordings, known, vectors, share)
        if fused.spaces_outdated:
            known = self._learn(known, fused)
            vectors = await self._embed_each(_embedded(wordings), known.spaces, share / 2)
            search, fused = await self._search_once(wordings, known, vectors, share)
            if fused.spaces_outdated:
                self.stages.degraded(
                    "search",
                    "SPACES_CHANGED",
                    "the workspace's spaces changed again during the search: BM25 alone answered",
                )
        self._learn(known, fused)
        return search, fused

    async def rerank(self, wordings: Wordings, fused: FusedHits, *, share: float) -> Ranking | None:
        """Returns the reranker's order, or None where the fused order stays."""
        if not self.switches.reranking_enabled:
            self.stages.switched_off("rerank", RERANKING.key)
            return None
        if not fused.hits:
            self.stages.skipped("rerank", "NO_CANDIDATES", "the search found no passage")
            return None
        read_by_models = self.switches.rerank_candidate_count
        return await self.stages.optional(
            "rerank",
            lambda timeout: self.parts.reranker.rerank(
                wordings.standalone_question,
                candidates_of(fused, read_by_models, with_bm25=self.switches.hybrid_search_enabled),
                workspace=self.question.workspace,
                model_candidate_count=read_by_models,
                include_formula_parts=self.include_formula_parts,
                timeout=timeout,
            ),
            share=share,
        )

    async def add_parents(self, hits: tuple[Hit, ...], *, share: float) -> tuple[Hit, ...]:
        """Returns the hits with the blocks that they are parts of."""
        if not hits:
            return hits
        parents = await self.stages.optional(
            "parents",
            lambda timeout: self.parts.index.read_parents(
                self.question.workspace, [hit.fused.passage_id for hit in hits], timeout=timeout
            ),
            share=share,
        )
        return tuple(replace(hit, parent=(parents or {}).get(hit.fused.passage_id)) for hit in hits)

    async def _embed_each(
        self, wordings: Sequence[str], spaces: Sequence[Space], share: float
    ) -> PlacedVectors:
        places = [(wording, space) for wording in wordings for space in spaces]
        if not places:
            return {}
        *others, last = places
        async with asyncio.TaskGroup() as together:
            tasks = [
                together.create_task(self._embed_one(wording, space, share))
                for wording, space in others
            ]
            # Mostly the only one, with a known vector: a task would take longer than it does.
            vector_of_last = await self._embed_one(*last, share)
        found = [*(task.result() for task in tasks), vector_of_last]
        return {
            (wording, space.space_id): vector
            for (wording, space), vector in zip(places, found, strict=True)
            if vector is not None
        }

    async def _embed_one(self, wording: str, space: Space, share: float) -> FloatMatrix | None:
        embedding = await self.stages.optional(
            "embed",
            lambda _timeout: self.parts.vectors.embed(self.question.workspace, space, wording),
            share=share,
            subject=f"space {space.space_id}",
            timed=not self.parts.vectors.knows(self.question.workspace, space, wording),
        )
        return None if embedding is None else embedding.vector

    async def _search_once(
        self, wordings: Wordings, known: KnownWorkspace, vectors: PlacedVectors, share: float
    ) -> tuple[PassageSearch, FusedHits]:
        search = PassageSearch(
            workspace=self.question.workspace,
            variants=tuple(_variant(each, known.spaces, vectors) for each in wordings.searched),
            mode=self._mode(known.spaces, vectors),
            candidate_count=(self.question.candidate_count or self.switches.hybrid_candidate_count),
            limit=MAX_CANDIDATES,
            spaces_version=known.spaces_version,
            filter=self.question.filter,
            thresholds=self.question.thresholds,
            context=self.question.context,
            fusion=self.question.fusion,
        )

        async def call(timeout: float) -> FusedHits:
            return _told_as_handshake(
                await self.parts.index.search_passages(search, timeout=timeout)
            )

        return search, await self.stages.required("search", call, share=share)

    def _mode(self, spaces: Sequence[Space], vectors: PlacedVectors) -> SearchMode:
        """Leaves BM25 out only if its switch is off and every space has its vector."""
        if self.switches.hybrid_search_enabled:
            return SearchMode.HYBRID
        if not all(self._has_original(space, vectors) for space in spaces):
            self.stages.explained(
                "search", f"{HYBRID_SEARCH.key} is off; BM25 answered for spaces without a vector"
            )
            return SearchMode.HYBRID
        self.stages.explained("search", f"{HYBRID_SEARCH.key} is off: vectors only")
        return SearchMode.DENSE

    def _has_original(self, space: Space, vectors: PlacedVectors) -> bool:
        return (self.question.query, space.space_id) in vectors

    def _learn(self, known: KnownWorkspace, fused: FusedHits) -> KnownWorkspace:
        if fused.spaces_version == known.spaces_version:
            return known
        return self.parts.workspaces.update(
            self.question.workspace, known, fused.spaces, fused.spaces_version
        )


def _told_as_handshake(fused: FusedHits) -> FusedHits:
    """A search for outdated spaces costs time only: what counts is told by the one that follows."""
    if not fused.spaces_outdated:
        return fused
    detail = "searched once more, as the spaces had changed since the query was embedded"
    report = replace(fused.report, outcome=StageOutcome.RAN, reason="", detail=detail)
    return replace(fused, report=report)


def _embedded(wordings: Wordings) -> list[str]:
    return [wording.text for wording in wordings.searched if wording.dense_weight > 0]


def _variant(wording: Wording, spaces: Sequence[Space], vectors: PlacedVectors) -> QueryVariant:
    return QueryVariant(
        wording.text,
        tuple(
            QueryVector(space.space_id, vectors[wording.text, space.space_id])
            for space in spaces
            if (wording.text, space.space_id) in vectors
        ),
        wording.dense_weight,
        wording.lexical_weight,
    )
