"""Ranks the documents of a set for each of its questions, in each of the ways that are compared."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ranking_formula.formula import rank_by_formula
from reranker_svc.reranking import Candidate
from reranker_svc.reranking import SpaceScore as CandidateScore
from retriever_svc.documents import Document, DocumentUpsert, Passage, PassageVectors
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import PassageHit, QueryVariant, SearchMode, SearchRequest
from retriever_svc.workspaces import DenseIndexKind, WorkspaceLanguage, WorkspaceSettings
from tests.quality.embedded_set import EmbeddedSet
from tests.quality.labelled_set import LabelledQuestion

WORKSPACE = "labelled"
CANDIDATES = 20
SIMILARITY_WEIGHT = 0.5
METHODS = ("dense", "BM25", "RRF", "formula", "formula with windows")

Rankings = Mapping[str, list[str]]
"""The document ids that each method ranks, best first."""


@asynccontextmanager
async def filled_engine(embedded: EmbeddedSet) -> AsyncIterator[EmbeddedEngine]:
    """Stores the set in an engine whose dense index is exact."""
    labelled = embedded.labelled
    with tempfile.TemporaryDirectory(prefix="quality-") as folder:
        engine = EmbeddedEngine(EmbeddedSettings(Path(folder)))
        try:
            settings = WorkspaceSettings(
                WorkspaceLanguage(labelled.language), dense_index_kind=DenseIndexKind.FLAT
            )
            await engine.create_workspace(WORKSPACE, settings)
            first_window = 0
            for at, document in enumerate(labelled.documents):
                last_window = first_window + embedded.window_counts[at]
                vectors = PassageVectors(
                    embedded.space_id,
                    np.zeros(1, dtype=np.int64),
                    embedded.passages[at : at + 1],
                    np.array([embedded.window_counts[at]], dtype=np.int64),
                    embedded.windows[first_window:last_window],
                )
                await engine.upsert_document(
                    DocumentUpsert(
                        WORKSPACE,
                        Document(document.document_id, document.title),
                        (Passage(0, document.text),),
                        (vectors,),
                    )
                )
                first_window = last_window
            yield engine
        finally:
            engine.close()


async def rankings_of(
    engine: EmbeddedEngine, space_id: str, question: LabelledQuestion, vector: NDArray[np.float32]
) -> Rankings:
    """Ranks for one question, with the candidate counts that are the mesh's defaults."""
    hits = {mode: await _hits(engine, space_id, question.text, vector, mode) for mode in SearchMode}
    hybrid = hits[SearchMode.HYBRID]
    candidates = [candidate_of(hit) for hit in hybrid]
    windowless = [
        each._replace(space_scores=tuple(_without_window(score) for score in each.space_scores))
        for each in candidates
    ]
    by_method = {
        "dense": ids_of(hits[SearchMode.DENSE]),
        "BM25": ids_of(hits[SearchMode.LEXICAL]),
        "RRF": ids_of(hybrid),
        "formula": ids_by_formula(windowless),
        "formula with windows": ids_by_formula(candidates),
    }
    return {method: by_method[method] for method in METHODS}


async def _hits(
    engine: EmbeddedEngine,
    space_id: str,
    text: str,
    vector: NDArray[np.float32],
    mode: SearchMode,
) -> tuple[PassageHit, ...]:
    variant = QueryVariant(text, vectors={space_id: vector})
    request = SearchRequest(WORKSPACE, (variant,), mode, candidate_count=CANDIDATES)
    return (await engine.search_passages(request)).hits


def ids_of(hits: Sequence[PassageHit]) -> list[str]:
    """Returns the document ids of hits, in their order."""
    return [hit.document.external_id for hit in hits]


def candidate_of(hit: PassageHit) -> Candidate:
    """Returns a hit as the reranker sees it, without its text."""
    scores = (
        CandidateScore(score.space_id, score.cosine, score.best_window_cosine)
        for score in hit.space_scores
    )
    return Candidate(
        hit.document.external_id, space_scores=tuple(scores), bm25_score=hit.bm25_score
    )


def _without_window(score: CandidateScore) -> CandidateScore:
    return score._replace(best_window_cosine=None)


def ids_by_formula(candidates: Sequence[Candidate]) -> list[str]:
    """Returns the document ids of candidates as the embedded formula sorts them."""
    ranked = rank_by_formula(candidates, similarity_weight=SIMILARITY_WEIGHT)
    return [passage.passage_id for passage in ranked]
