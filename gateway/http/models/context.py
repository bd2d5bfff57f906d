"""Wishes for contexts, and contexts, in JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, StrictInt

from gateway.context.formats import ContextFormat, ContextLanguage, NumberedSource
from gateway.context.of_retrieval import ContextWishes
from gateway.context.work_instruction import WorkInstruction
from gateway.contexts import ContextAnswer
from gateway.http.models.receipt import ReceiptBody, to_receipt_body
from gateway.http.models.search import SearchBody


class ContextBody(SearchBody):
    """A question to a workspace, and how its context is wanted.

    Pages, groups, highlights and parents are left aside.
    """

    format: Literal["numbered", "titled", "headed"] | None = Field(
        default=None, description="as the workspace's preset says if absent"
    )
    language: Literal["fr", "en"] | None = Field(
        default=None, description="of the prompts; that of workspace or question if absent"
    )
    token_budget: StrictInt = Field(
        default=0, description="estimated tokens of the block, 64 to 128,000; 0: as the preset says"
    )
    role: str = Field(default="", description="who answers, and for whom; at most 4 kB")
    permissions_note: str = Field(default="", description="what may be said to whom; at most 4 kB")
    live_data: str = Field(
        default="", description="facts of the moment that no document has; at most 16 kB"
    )

    def wishes(self) -> ContextWishes:
        """Returns how the context is wanted."""
        return ContextWishes(
            style=None if self.format is None else ContextFormat(self.format),
            language=None if self.language is None else ContextLanguage(self.language),
            token_budget=self.token_budget,
            instruction=WorkInstruction(self.role, self.permissions_note, self.live_data),
        )


class ContextSourceBody(BaseModel):
    """One source of a block; `mark` is how an answer cites it."""

    index: int
    mark: str
    document_id: str
    title: str
    source_uri: str
    heading_path: list[str]
    page: str
    passage_ids: list[str]
    rank: int


class LeftOutBody(BaseModel):
    """Found passages that are in no source, by reason."""

    superseded_count: int
    over_document_bound_count: int
    over_budget_count: int


class BuiltContextBody(BaseModel):
    """A block of sources, the best first and the second last, with its prompts."""

    block: str
    format: str
    language: str
    sources: list[ContextSourceBody]
    system_prompt: str
    user_prompt: str
    boundary: str
    token_estimate: int
    left_out: LeftOutBody
    cut: bool
    searched_queries: list[str]
    receipt: ReceiptBody


def to_context_body(answer: ContextAnswer) -> BuiltContextBody:
    """Writes a context with its receipt."""
    context = answer.context
    return BuiltContextBody(
        block=context.block,
        format=context.style.value,
        language=context.language.value,
        sources=[_to_source_body(each) for each in context.sources],
        system_prompt=context.system_prompt,
        user_prompt=context.user_prompt,
        boundary=context.boundary,
        token_estimate=context.token_estimate,
        left_out=LeftOutBody(
            superseded_count=context.left_out.superseded,
            over_document_bound_count=context.left_out.over_document_bound,
            over_budget_count=context.left_out.over_budget,
        ),
        cut=context.is_cut,
        searched_queries=list(answer.searched_queries),
        receipt=to_receipt_body(answer.receipt),
    )


def _to_source_body(numbered: NumberedSource) -> ContextSourceBody:
    source = numbered.source
    return ContextSourceBody(
        index=numbered.index,
        mark=numbered.mark,
        document_id=source.external_id,
        title=source.title,
        source_uri=source.source_uri,
        heading_path=list(source.heading_path),
        page=source.location,
        passage_ids=[hit.fused.passage_id for hit in source.hits],
        rank=source.rank,
    )
