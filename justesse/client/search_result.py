"""The answer to a search: passages with their sources and the reasons for their rank."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from justesse.client.metadata import MetadataValue, metadata_from, moment_from
from justesse.client.receipt import Receipt, receipt_from
from justesse.gateway.v1 import search_pb2

LEXICAL_LIST = "bm25"
"""Name of the lexical list among the lists of a search; every other list is named by its space."""


class Speaker(StrEnum):
    """Who spoke a turn of a conversation."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the conversation that a question belongs to."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage comes from."""

    external_id: str
    title: str
    source_uri: str
    category: str
    language: str
    version: str
    superseded: bool
    metadata: Mapping[str, MetadataValue]
    update_time: datetime | None


@dataclass(frozen=True, slots=True)
class ListRank:
    """A place in one list of the search."""

    list_name: str
    """"bm25" or the id of a space."""
    query_index: int
    """Position in `SearchResult.searched_queries` of the wording the list was made for."""
    rank: int
    contribution: float
    """What the place added to the fused score."""


@dataclass(frozen=True, slots=True)
class SpaceScore:
    """A passage's similarity in one space; cosines lie in -1 to 1."""

    space_id: str
    cosine: float | None
    best_window_cosine: float | None


@dataclass(frozen=True, slots=True)
class Scores:
    """What each stage thought of a passage; ranks count from 1, None where a stage has no value."""

    list_ranks: tuple[ListRank, ...]
    fused_rank: int
    fused_score: float
    """An ordering, not a relevance."""
    space_scores: tuple[SpaceScore, ...]
    bm25_score: float | None
    rerank_rank: int | None
    rerank_score: float | None
    """Comparable inside one answer only."""
    term_share: float | None = None
    """Share of the question's terms that the passage holds, where a threshold judged it."""

    @property
    def bm25_rank(self) -> int | None:
        """Best rank among the lexical lists."""
        ranks = [place.rank for place in self.list_ranks if place.list_name == LEXICAL_LIST]
        return min(ranks, default=None)

    @property
    def dense_rank(self) -> int | None:
        """Best rank among the lists of all spaces."""
        place = self._best_dense_place
        return place.rank if place else None

    @property
    def cosine(self) -> float | None:
        """Cosine in the space that ranks the passage best, otherwise in the first that has one."""
        cosines = {
            score.space_id: score.cosine for score in self.space_scores if score.cosine is not None
        }
        place = self._best_dense_place
        if place and place.list_name in cosines:
            return cosines[place.list_name]
        return next(iter(cosines.values()), None)

    @property
    def _best_dense_place(self) -> ListRank | None:
        places = [place for place in self.list_ranks if place.list_name != LEXICAL_LIST]
        return min(places, key=lambda place: place.rank, default=None)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part `text[start:end]` of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parent:
    """The block that a passage is a part of."""

    text: str
    first_chunk_index: int
    """Position of its first passage in the document."""
    passage_count: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that answers."""

    rank: int
    passage_id: str
    text: str
    heading_path: tuple[str, ...]
    location: str
    """Page or sheet the passage starts on; empty where there is none."""
    chunk_index: int
    source: Source
    scores: Scores
    highlights: tuple[TextSpan, ...] = ()
    """Where the text holds terms of the question, in order; only if asked for."""
    parent: Parent | None = None
    """Block that the passage is a part of; None unless asked for, and where it stands alone."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages that answer a question."""

    hits: tuple[Hit, ...]
    """Best first."""
    receipt: Receipt
    searched_queries: tuple[str, ...]
    """Wordings that were searched with; candidates were scored against the first."""
    next_page_token: str = ""
    """Asks for the next page; empty on the last one of the window."""
    total_count: int = 0
    """Hits of all pages, documents where they are grouped."""
    window_cut: bool = False
    """More passages than those of all pages may match: a larger `candidate_count` looks further."""


def search_result_from(message: search_pb2.SearchPassagesResponse) -> SearchResult:
    """Decodes the answer to a search."""
    return SearchResult(
        hits=tuple(_hit_from(hit) for hit in message.hits),
        receipt=receipt_from(message.receipt),
        searched_queries=tuple(message.searched_queries),
        next_page_token=message.next_page_token,
        total_count=message.total_count,
        window_cut=message.window_cut,
    )


def _hit_from(message: search_pb2.Hit) -> Hit:
    return Hit(
        rank=message.rank,
        passage_id=message.passage_id,
        text=message.text,
        heading_path=tuple(message.heading_path),
        location=message.location,
        chunk_index=message.chunk_index,
        source=source_from(message.source),
        scores=_scores_from(message.scores),
        highlights=tuple(TextSpan(span.start, span.end) for span in message.highlights),
        parent=_parent_from(message.parent) if message.HasField("parent") else None,
    )


def _parent_from(message: search_pb2.Parent) -> Parent:
    return Parent(message.text, message.first_chunk_index, message.passage_count)


def source_from(message: search_pb2.Source) -> Source:
    """Decodes where passages come from."""
    return Source(
        external_id=message.external_id,
        title=message.title,
        source_uri=message.source_uri,
        category=message.category,
        language=message.language,
        version=message.version,
        superseded=message.superseded,
        metadata=metadata_from(message.metadata),
        update_time=moment_from(message.update_time) if message.HasField("update_time") else None,
    )


def _scores_from(message: search_pb2.Scores) -> Scores:
    return Scores(
        list_ranks=tuple(
            ListRank(place.list_name, place.query_index, place.rank, place.contribution)
            for place in message.list_ranks
        ),
        fused_rank=message.fused_rank,
        fused_score=message.fused_score,
        space_scores=tuple(space_score_from(score) for score in message.space_scores),
        bm25_score=message.bm25_score if message.HasField("bm25_score") else None,
        rerank_rank=message.rerank_rank if message.HasField("rerank_rank") else None,
        rerank_score=message.rerank_score if message.HasField("rerank_score") else None,
        term_share=message.term_share if message.HasField("term_share") else None,
    )


def space_score_from(message: search_pb2.SpaceScore) -> SpaceScore:
    """Decodes a similarity."""
    return SpaceScore(
        space_id=message.space_id,
        cosine=message.cosine if message.HasField("cosine") else None,
        best_window_cosine=(
            message.best_window_cosine if message.HasField("best_window_cosine") else None
        ),
    )
