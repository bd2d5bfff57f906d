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
from retriever_svc.workspaces import Space


class SearchMode(StrEnum):
    """Names which lists a search makes."""

    HYBRID = "hybrid"
    DENSE = "dense"
    """Spaces only; BM25 still answers for passages that no queried space holds."""
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """Holds one wording of the question with its vector, [dimension], by space id."""

    text: str
    weight: float = 1.0
    vectors: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Drops hits whose cosine in a space is under `min_similarity`.

    A hit without a cosine in that space is not judged. With `context_field`, only documents whose
    metadata field of that name equals the request's context value of the same name are judged;
    with `condition`, only documents that fulfil it.
    """

    space_id: str
    min_similarity: float
    context_field: str = ""
    condition: Filter | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Asks for passages. The first variant is the original wording."""

    workspace: str
    variants: tuple[QueryVariant, ...]
    mode: SearchMode = SearchMode.HYBRID
    candidate_count: int = 20
    """Length of each list before fusion."""
    limit: int | None = None
    """Hits returned; None means all."""
    spaces_version: int | None = None
    """Version of the spaces the caller embedded for; None means no check."""
    filter: Filter | None = None
    """Only passages of documents that fulfil it are found; None for all."""
    thresholds: tuple[Threshold, ...] = ()
    context: Mapping[str, MetadataValue] = field(default_factory=dict)
    fusion: FusionChoices = field(default_factory=FusionChoices)
    """What the fusion does other than the workspace's settings say."""
    passages_per_document: int | None = None


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


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Holds the fused hits, best first, and how they came about."""

    hits: tuple[PassageHit, ...]
    lists: tuple[RankedList, ...]
    fusion: FusionSettings
    spaces: tuple[Space, ...]
    spaces_version: int
    spaces_outdated: bool
    """The caller embedded for other spaces than there are now: only BM25 lists were made."""
    applied_seq: int
    latency_ms: float
