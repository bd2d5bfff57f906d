"""Searches: what is asked, and the fused hits with every score they have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from retriever_svc.documents import Document, MetadataValue, Passage
from retriever_svc.filters import Filter
from retriever_svc.fusion import Place
from retriever_svc.fusion_settings import FusionChoices, FusionSettings
from retriever_svc.thresholds import Threshold
from retriever_svc.workspaces import Space


class SearchMode(StrEnum):
    """Names which lists a search makes."""

    HYBRID = "hybrid"
    DENSE = "dense"
    """Spaces only; BM25 still answers for passages that no queried space holds."""
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """Holds one wording of the question with its vector, [dimension], by space id.

    `weight` is that of all its lists, but for the BM25 list where `lexical_weight` is given.
    """

    text: str
    weight: float = 1.0
    vectors: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    lexical_weight: float | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Asks for passages. The first variant is the original wording."""

    workspace: str
    variants: tuple[QueryVariant, ...]
    mode: SearchMode = SearchMode.HYBRID
    candidate_count: int = 20
    """Length of each list before fusion."""
    limit: int | None = None
    """Hits returned, documents where they are grouped; None means all."""
    spaces_version: int | None = None
    """Version of the spaces the caller embedded for; None means no check."""
    filter: Filter | None = None
    """Only passages of documents that fulfil it are found; None for all."""
    thresholds: tuple[Threshold, ...] = ()
    context: Mapping[str, MetadataValue] = field(default_factory=dict)
    fusion: FusionChoices = field(default_factory=FusionChoices)
    """What the fusion does other than the workspace's settings say."""
    passages_per_document: int | None = None
    offset: int = 0
    """Hits passed over; `limit` and `offset` count documents where hits are grouped."""
    group_by_document: bool = False
    highlight: bool = False


@dataclass(frozen=True, slots=True)
class RankedList:
    """Describes one list that entered the fusion."""

    variant_index: int
    space_id: str
    """Empty for BM25."""
    hit_count: int
    exact: bool
    weight: float
    """Weight the list had in the fusion."""


class SpaceScore(NamedTuple):
    """Holds a passage's similarity to the original wording in one space."""

    space_id: str
    cosine: float
    best_window_cosine: float | None = None
    """None where the passage has no windows in the space."""


class TextSpan(NamedTuple):
    """Names a part `[start, end)` of a text, in code points."""

    start: int
    end: int


class PassageHit(NamedTuple):
    """Holds one passage with every score it has."""

    passage_id: int
    passage: Passage
    document: Document
    updated_at: datetime
    fused_rank: int
    """Place in fused order, from 1, before thresholds and limits."""
    fused_score: float
    """An ordering, not a relevance."""
    places: tuple[Place, ...]
    """Places in the lists that hold the passage; `list_index` counts in `SearchResult.lists`."""
    space_scores: tuple[SpaceScore, ...]
    bm25_score: float
    """BM25 of the original wording, at least 0."""
    term_share: float | None = None
    """Share of the original wording's terms that the passage holds, where a threshold asked."""
    highlights: tuple[TextSpan, ...] = ()
    """Where the text holds terms of any wording, in order, without overlap; if asked for."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Holds the hits of a page, best first, and how they came about."""

    hits: tuple[PassageHit, ...]
    lists: tuple[RankedList, ...]
    fusion: FusionSettings
    spaces: tuple[Space, ...]
    spaces_version: int
    spaces_outdated: bool
    """The caller embedded for other spaces than there are now: only BM25 lists were made."""
    applied_seq: int
    latency_ms: float
    languages: tuple[str, ...]
    """Languages the query was analysed in, the likeliest first."""
    total_count: int = 0
    """Hits of all pages; documents where they are grouped."""
    window_cut: bool = False
    """A list was as long as `candidate_count` allows: more passages may match."""
    drop_counts: Mapping[int, int] = field(default_factory=dict)
    """Candidates that each threshold dropped, by its position."""
