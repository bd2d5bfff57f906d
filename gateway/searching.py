"""What is asked of the retriever, and the hits it fuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from gateway.documents import Document, FloatMatrix, MetadataValue, Passage
from gateway.filters import Filter, Threshold
from gateway.fusion import Fusion
from gateway.receipt import StageReport
from gateway.workspaces import Space


class SearchMode(Enum):
    """Which lists a search makes; DENSE keeps BM25 for passages that have no vector."""

    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True, eq=False)
class QueryVector:
    """A query in one space; `vector` is float32, shape (dimension,)."""

    space_id: str
    vector: FloatMatrix


@dataclass(frozen=True, slots=True, eq=False)
class QueryVariant:
    """One wording of the question with its vectors, at most one a space, and its lists' weights."""

    text: str
    vectors: tuple[QueryVector, ...] = ()
    dense_weight: float = 1.0
    lexical_weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class PassageSearch:
    """A search in one workspace.

    `variants` holds 1 to 8 wordings; candidates are scored against the first. `candidate_count` (1
    to 200) is the length of each list before fusion, `limit` (0 to 400, 0 means all) the number of
    fused hits. With `spaces_version` None the retriever does not check which spaces the vectors
    are for.
    """

    workspace: str
    variants: tuple[QueryVariant, ...]
    mode: SearchMode = SearchMode.HYBRID
    candidate_count: int = 20
    limit: int = 0
    spaces_version: int | None = None
    filter: Filter | None = None
    thresholds: tuple[Threshold, ...] = ()
    context: Mapping[str, MetadataValue] = field(default_factory=dict)
    fusion: Fusion = field(default_factory=Fusion)


BM25_LIST = "bm25"
"""Name of the lexical list; every other list is named by its space."""


def list_name_of(space_id: str) -> str:
    """Returns what callers know a list by: its space id, "bm25" where that is empty."""
    return space_id or BM25_LIST


@dataclass(frozen=True, slots=True)
class RankedList:
    """One list that entered the fusion; `space_id` is empty for BM25."""

    variant_index: int
    space_id: str
    hit_count: int
    exact: bool

    @property
    def name(self) -> str:
        """The space id, or "bm25"."""
        return list_name_of(self.space_id)


class ListRank(NamedTuple):
    """A place in one list, `rank` from 1, and what it added to the fused score."""

    list_index: int
    rank: int
    contribution: float


class SpaceScore(NamedTuple):
    """Similarity in one space, -1 to 1; None where it cannot be had."""

    space_id: str
    cosine: float | None = None
    best_window_cosine: float | None = None


@dataclass(frozen=True, slots=True)
class HitContent:
    """What a hit says, the document it stands in, and its places in the lists that hold it."""

    passage: Passage
    document: Document
    update_time: datetime | None = None
    list_ranks: tuple[ListRank, ...] = ()


# Not frozen: that takes three times as long to fill in, for dozens of hits a search.
@dataclass(slots=True)
class FusedHit:
    """One passage in fused order with every score it has; `fused_rank` counts from 1.

    `read_content` is called once, and only for hits whose content is wanted: most are ranked and
    never shown.
    """

    passage_id: str
    read_content: Callable[[], HitContent] = field(compare=False, repr=False)
    fused_rank: int
    fused_score: float
    space_scores: tuple[SpaceScore, ...] = ()
    bm25_score: float | None = None
    term_share: float | None = None
    _content: HitContent | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def content(self) -> HitContent:
        """The content, read."""
        if self._content is None:
            self._content = self.read_content()
        return self._content

    @property
    def passage(self) -> Passage:
        """The passage itself."""
        return self.content.passage

    @property
    def document(self) -> Document:
        """The document it stands in."""
        return self.content.document

    @property
    def list_ranks(self) -> tuple[ListRank, ...]:
        """Its places in the lists that hold it."""
        return self.content.list_ranks

    @property
    def update_time(self) -> datetime | None:
        """When the document was stored in its present state."""
        return self.content.update_time


@dataclass(frozen=True, slots=True)
class FusedHits:
    """Hits in fused order, best first, and the spaces the workspace has now.

    `spaces_outdated` says that the vectors were for other spaces: only BM25 lists were made.
    `window_cut` says that a list was as long as it may be.
    """

    hits: tuple[FusedHit, ...]
    lists: tuple[RankedList, ...]
    spaces: tuple[Space, ...]
    spaces_version: int
    spaces_outdated: bool
    report: StageReport
    applied_seq: int = 0
    total_count: int = 0
    window_cut: bool = False
