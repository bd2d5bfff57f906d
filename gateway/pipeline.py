"""The path of a question: rewrite beside embed, then search, then rerank."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gateway.highlights import highlighted
from gateway.hits import placed_hits, placed_ids
from gateway.known_workspaces import KnownWorkspace
from gateway.page_tokens import KeptOrder, kept_order_from
from gateway.pages import kept_ranking, page_of
from gateway.questions import Hit, Question
from gateway.reranking import Ranking
from gateway.rewriting import Wordings
from gateway.searching import FusedHits, PassageSearch
from gateway.stage_calls import LATER_PAGE, SearchParts, StageCalls
from gateway.stages import Stages
from gateway.switches.values import SwitchValues

STAGE_ORDER = ("rewrite", "embed", "search", "rerank", "parents", "answer")


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Hits, best first, and what the stages on the way to them left.

    `workspace` is what was known of it; `question` is what was asked, with what its preset adds;
    `search` is what the retriever was asked in the end; `ranking` is None where the fused order
    stayed. `following` is what later pages begin with, None on the last one.
    """

    workspace: KnownWorkspace
    question: Question
    hits: tuple[Hit, ...]
    total_count: int
    following: KeptOrder | None
    wordings: Wordings
    search: PassageSearch
    fused: FusedHits
    ranking: Ranking | None


async def find_passages(
    parts: SearchParts,
    question: Question,
    switches: SwitchValues,
    stages: Stages,
    *,
    include_formula_parts: bool = False,
) -> Retrieval:
    """Finds the passages for a question; `stages` holds the reports afterwards.

    workspace and its preset -> (rewrite | embed) -> embed rewritten -> search -> rerank -> page

    Each share is a part of the time that is left when the stage begins. The search is required, so
    it may use all but what the answer needs to travel; its errors are the caller's. A later page
    keeps the wordings and the order of the first. Raises InvalidArgument for a token that is not
    one of this question.
    """
    calls = StageCalls(parts, question, switches, stages, include_formula_parts)
    kept = kept_order_from(question.page_token, question) if question.page_token else None
    known = await calls.look_up_workspace(share=0.9)
    calls = calls.as_preset_says(known)
    question = calls.question

    async with asyncio.TaskGroup() as side_by_side:
        # Lost: the original wording alone.
        rewriting = side_by_side.create_task(calls.rewrite(known.language, kept, share=0.4))
        # Lost: the other spaces, and BM25.
        vectors = await calls.embed(known.spaces, share=0.4)
    wordings = rewriting.result()
    # Lost: the rewritten wording is searched by its words only.
    vectors |= await calls.embed_rewritten(wordings, known.spaces, vectors, share=0.3)

    # Lost: the request fails.
    search, fused = await calls.search(wordings, known, vectors, share=0.9)
    if kept is None:
        # Lost: fused order.
        ranking = await calls.rerank(wordings, fused, share=0.9)
    else:
        stages.skipped("rerank", LATER_PAGE, "the order of the first page is kept")
        ranking = kept_ranking(kept, fused)

    page = page_of(placed_hits(fused, ranking), placed_ids(fused, ranking), question, kept)
    hits = page.hits
    if question.include_parents:
        # Lost: the hits alone.
        hits = await calls.add_parents(hits, share=0.9)
    if question.highlight:
        hits = await asyncio.to_thread(highlighted, hits, wordings.texts, known.language)
    following = None
    if page.following_ids:
        shown = len(hits) + (kept.shown_count if kept else 0)
        following = KeptOrder(page.following_ids, wordings.searched, shown, page.total_count)
    return Retrieval(
        known, question, hits, page.total_count, following, wordings, search, fused, ranking
    )
