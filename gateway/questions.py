"""A caller's question, and the passages found for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gateway.documents import MetadataValue, Parent
from gateway.filters import Filter, Threshold
from gateway.fusion import Fusion
from gateway.receipt import Receipt
from gateway.rewriting import ConversationTurn
from gateway.searching import FusedHit

DEFAULT_LIMIT = 8


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one workspace; `limit` hits are wanted, None leaves that to its preset.

    `history` is ordered oldest first. `passages_per_document` 0 means no bound. `limit` counts
    documents where hits are grouped. `candidate_count` 0 leaves the length of lists to the
    preset or its switch. Without `thresholds` those of the preset count.
    `for_context` says that the hits become the sources of a prompt: what the preset says of answers
    counts, and blocks stand in for the parts of them that were found.
    """

    workspace: str
    query: str
    limit: int | None = None
    history: tuple[ConversationTurn, ...] = ()
    filter: Filter | None = None
    thresholds: tuple[Threshold, ...] = ()
    context: Mapping[str, MetadataValue] = field(default_factory=dict)
    passages_per_document: int = 0
    fusion: Fusion = field(default_factory=Fusion)
    page_token: str = ""
    group_by_document: bool = False
    highlight: bool = False
    candidate_count: int = 0
    include_parents: bool = False
    for_context: bool = False

    def as_context(self) -> Question:
        """Returns the question for the sources of a prompt: one page, not grouped, not marked."""
        return replace(
            self,
            for_context=True,
            include_parents=True,
            page_token="",
            group_by_document=False,
            highlight=False,
        )

    @property
    def page_length(self) -> int:
        """Hits, or documents where they are grouped, on a page."""
        return DEFAULT_LIMIT if self.limit is None else self.limit


@dataclass(frozen=True, slots=True)
class ListPlace:
    """A place in one list: "bm25" or a space id, for the wording at `query_index`."""

    list_name: str
    query_index: int
    rank: int
    contribution: float


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part `[start, end)` of a text, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage of an answer; `rank` counts from 1.

    `rerank_rank` is None where the reranker did not place the passage, `rerank_score` where it
    gave none. `parent` is the block that the passage is a part of, where that was asked for and the
    passage does not stand alone.
    """

    rank: int
    fused: FusedHit
    list_places: tuple[ListPlace, ...]
    rerank_rank: int | None = None
    rerank_score: float | None = None
    highlights: tuple[TextSpan, ...] = ()
    parent: Parent | None = None


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """Hits of a page, what every stage did, and the wordings searched with.

    Candidates were scored against the first wording: the standalone question where there is a
    history, else the original. `total_count` hits are on all pages (documents where they are
    grouped); with `window_cut` more passages than those may match.
    """

    hits: tuple[Hit, ...]
    receipt: Receipt
    searched_queries: tuple[str, ...]
    next_page_token: str = ""
    total_count: int = 0
    window_cut: bool = False
