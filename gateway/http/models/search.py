"""Questions and found passages in JSON."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictInt

from gateway.documents import Document
from gateway.http.models.filters import FilterBody, ThresholdBody, filter_from, threshold_from
from gateway.http.models.fusion import FusionBody
from gateway.http.models.receipt import ReceiptBody, to_receipt_body
from gateway.http.models.values import FactBody, RequestBody, UpperCase, facts_from, to_facts
from gateway.questions import FoundPassages, Hit, Question
from gateway.rewriting import ConversationRole, ConversationTurn
from gateway.searching import SpaceScore


class TurnBody(RequestBody):
    """One turn of a conversation."""

    role: Annotated[Literal["USER", "ASSISTANT"], UpperCase]
    text: str


class SearchBody(RequestBody):
    """A question to a workspace."""

    workspace: str = Field(description="slug of the workspace")
    query: str = Field(description="question in plain words, at most 8 kB of UTF-8")
    limit: StrictInt | None = Field(
        default=None, description="hits wanted, 1 to 100; if absent, 8 or as the preset says"
    )
    history: list[TurnBody] = Field(
        default=[], description="earlier turns, oldest first, at most 20"
    )
    filter: FilterBody | None = None
    thresholds: list[ThresholdBody] = Field(default=[])
    context: dict[str, FactBody] = Field(
        default={}, description="facts that thresholds compare with"
    )
    passages_per_document: StrictInt = Field(default=0, description="0 means no bound")
    page_token: str = Field(
        default="", description="from the answer before; all but limit must be as it was then"
    )
    group_by_document: bool = Field(
        default=False, description="passages of a document come together; limit counts documents"
    )
    highlight: bool = Field(
        default=False, description="says where each text holds terms of the question"
    )
    candidate_count: StrictInt = Field(
        default=0, description="length of each list before fusion, 1 to 200; 0: as its switch says"
    )
    include_parents: bool = Field(
        default=False, description="hits come with the blocks that they are parts of"
    )
    fusion: FusionBody = Field(
        default=FusionBody(), description="what is absent is as the workspace's settings say"
    )

    def question(self) -> Question:
        """Returns the question."""
        return Question(
            workspace=self.workspace,
            query=self.query,
            limit=self.limit,
            history=tuple(
                ConversationTurn(ConversationRole[turn.role], turn.text) for turn in self.history
            ),
            filter=None if self.filter is None else filter_from(self.filter),
            thresholds=tuple(threshold_from(threshold) for threshold in self.thresholds),
            context=facts_from(self.context),
            passages_per_document=self.passages_per_document,
            fusion=self.fusion.fusion(),
            page_token=self.page_token,
            group_by_document=self.group_by_document,
            highlight=self.highlight,
            candidate_count=self.candidate_count,
            include_parents=self.include_parents,
        )


class SourceBody(BaseModel):
    """Where a passage comes from."""

    external_id: str
    title: str
    source_uri: str
    category: str
    language: str
    version: str
    superseded: bool
    metadata: dict[str, FactBody]
    update_time: datetime | None = None


class ListRankBody(BaseModel):
    """A place in one list: "bm25" or the id of a space."""

    list_name: str
    query_index: int
    rank: int
    contribution: float


class SpaceScoreBody(BaseModel):
    """Similarity in one space."""

    space_id: str
    cosine: float | None = None
    best_window_cosine: float | None = None


class ScoresBody(BaseModel):
    """What each stage thought of a passage; what a stage does not have is absent."""

    list_ranks: list[ListRankBody]
    fused_rank: int
    fused_score: float
    space_scores: list[SpaceScoreBody]
    bm25_score: float | None = None
    term_share: float | None = None
    rerank_rank: int | None = None
    rerank_score: float | None = None


class TextSpanBody(BaseModel):
    """A part of a text, in Unicode code points; JavaScript counts UTF-16 units instead."""

    start: int
    end: int


class ParentBody(BaseModel):
    """The block that a passage is a part of: its text, and which passages make it up."""

    text: str
    first_chunk_index: int
    passage_count: int


class HitBody(BaseModel):
    """One passage, its source and the reasons for its rank."""

    rank: int
    passage_id: str
    text: str
    heading_path: list[str]
    location: str
    chunk_index: int
    source: SourceBody
    scores: ScoresBody
    highlights: list[TextSpanBody]
    parent: ParentBody | None = Field(
        default=None, description="block that the passage is a part of, if asked for"
    )


class FoundPassagesBody(BaseModel):
    """Hits of a page, what every stage did, and the wordings searched with."""

    hits: list[HitBody]
    receipt: ReceiptBody
    searched_queries: list[str]
    next_page_token: str = Field(description="empty on the last page of the window")
    total_count: int = Field(description="hits of all pages; documents where they are grouped")
    window_cut: bool = Field(description="more passages than those of all pages may match")


def to_found_passages_body(found: FoundPassages) -> FoundPassagesBody:
    """Writes found passages."""
    return FoundPassagesBody(
        hits=[_to_hit_body(hit) for hit in found.hits],
        receipt=to_receipt_body(found.receipt),
        searched_queries=list(found.searched_queries),
        next_page_token=found.next_page_token,
        total_count=found.total_count,
        window_cut=found.window_cut,
    )


def _to_hit_body(hit: Hit) -> HitBody:
    passage = hit.fused.passage
    return HitBody(
        rank=hit.rank,
        passage_id=hit.fused.passage_id,
        text=passage.text,
        heading_path=list(passage.heading_path),
        location=passage.location,
        chunk_index=passage.chunk_index,
        source=to_source_body(hit.fused.document, hit.fused.update_time),
        scores=_to_scores_body(hit),
        highlights=[TextSpanBody(start=span.start, end=span.end) for span in hit.highlights],
        parent=None if hit.parent is None else ParentBody(**asdict(hit.parent)),
    )


def to_source_body(document: Document, update_time: datetime | None) -> SourceBody:
    """Writes where passages come from."""
    return SourceBody(
        external_id=document.external_id,
        title=document.title,
        source_uri=document.source_uri,
        category=document.category,
        language=document.language,
        version=document.version,
        superseded=document.superseded,
        metadata=to_facts(document.metadata),
        update_time=update_time,
    )


def _to_scores_body(hit: Hit) -> ScoresBody:
    return ScoresBody(
        list_ranks=[
            ListRankBody(
                list_name=place.list_name,
                query_index=place.query_index,
                rank=place.rank,
                contribution=place.contribution,
            )
            for place in hit.list_places
        ],
        fused_rank=hit.fused.fused_rank,
        fused_score=hit.fused.fused_score,
        space_scores=[to_space_score_body(score) for score in hit.fused.space_scores],
        bm25_score=hit.fused.bm25_score,
        term_share=hit.fused.term_share,
        rerank_rank=hit.rerank_rank,
        rerank_score=hit.rerank_score,
    )


def to_space_score_body(score: SpaceScore) -> SpaceScoreBody:
    """Writes a similarity."""
    return SpaceScoreBody(
        space_id=score.space_id,
        cosine=score.cosine,
        best_window_cosine=score.best_window_cosine,
    )
