"""The path of a question: rewrite beside embed, then search, then rerank."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gateway.hits import best_hits
from gateway.questions import Hit, Question
from gateway.reranking import Ranking
from gateway.rewriting import Wordings
from gateway.searching import FusedHits, PassageSearch
from gateway.stage_calls import SearchParts, StageCalls
from gateway.stages import Stages
from gateway.switches.values import SwitchValues

STAGE_ORDER = ("rewrite", "embed", "search", "rerank")


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Hits, best first, and what the stages on the way to them left.

    `search` is what the retriever was asked in the end; `ranking` is None where the fused order
    stayed.
    """

    hits: tuple[Hit, ...]
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

    workspace -> (rewrite | embed) -> embed rewritten -> search -> rerank -> cut

    Each share is a part of the time that is left when the stage begins. The search is required, so
    it may use all but what the answer needs to travel; its errors are the caller's.
    """
    calls = StageCalls(parts, question, switches, stages, include_formula_parts)
    known = await calls.look_up_workspace(share=0.9)

    async with asyncio.TaskGroup() as side_by_side:
        # Lost: the original wording alone.
        rewriting = side_by_side.create_task(calls.rewrite(known.language, share=0.4))
        # Lost: the other spaces, and BM25.
        embedding = side_by_side.create_task(calls.embed(known.spaces, share=0.4))
    wordings, vectors = rewriting.result(), embedding.result()
    # Lost: the rewritten wording is searched by its words only.
    vectors |= await calls.embed_rewritten(wordings, known.spaces, vectors, share=0.3)

    # Lost: the request fails.
    search, fused = await calls.search(wordings, known, vectors, share=0.9)
    # Lost: fused order.
    ranking = await calls.rerank(wordings, fused, share=0.9)

    hits = best_hits(fused, ranking, question.limit)
    return Retrieval(hits, wordings, search, fused, ranking)
