"""Compares the answers of two spaces of a workspace on questions whose answers are known."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from statistics import fmean

from gateway.embedding import EmbeddingPurpose
from gateway.ports import Embedder, PassageIndex
from gateway.reembedding import GateVerdict, LabelledQuestion, SwitchGate
from gateway.searching import FusedHit, PassageSearch, QueryVariant, QueryVector
from gateway.workspaces import Workspace

_AT_ONCE = 4
_TIMEOUT_S = 30.0
_SHORTEST_LIST = 20


@dataclass(frozen=True, slots=True)
class _Answers:
    overlap: float
    old_hit: bool
    new_hit: bool


@dataclass(frozen=True, slots=True)
class SpaceComparison:
    """Asks each question in both spaces, words included, as searches do."""

    embedder: Embedder
    index: PassageIndex

    async def verdict(
        self, workspace: Workspace, old_space_id: str, new_space_id: str, gate: SwitchGate
    ) -> GateVerdict:
        """Returns how the spaces compare; raises what embedder and retriever raise.

        overlap@k is the mean over the questions of |old & new| / max(|old|, |new|), 1 where neither
        finds anything; hit@k the share of questions with an expected document among the hits.
        """
        limit = asyncio.Semaphore(_AT_ONCE)

        async def compare(question: LabelledQuestion) -> _Answers:
            async with limit:
                old = await self._hits(workspace, old_space_id, question, gate.hit_count)
                new = await self._hits(workspace, new_space_id, question, gate.hit_count)
            return _compared(question, old, new)

        async with asyncio.TaskGroup() as together:
            tasks = [together.create_task(compare(question)) for question in gate.questions]
        answers = [task.result() for task in tasks]
        overlap = fmean(one.overlap for one in answers)
        old_rate = fmean(one.old_hit for one in answers)
        new_rate = fmean(one.new_hit for one in answers)
        return GateVerdict(
            len(answers),
            gate.hit_count,
            overlap,
            old_rate,
            new_rate,
            _objection(gate, overlap, old_rate, new_rate),
        )

    async def _hits(
        self, workspace: Workspace, space_id: str, question: LabelledQuestion, count: int
    ) -> tuple[FusedHit, ...]:
        embedded = await self.embedder.embed(
            [question.query],
            EmbeddingPurpose.QUERY,
            space_id,
            workspace.slug,
            canaries=workspace.canaries,
            timeout=_TIMEOUT_S,
        )
        vector = QueryVector(space_id, embedded.vectors[0])
        search = PassageSearch(
            workspace.slug,
            (QueryVariant(question.query, (vector,)),),
            candidate_count=max(_SHORTEST_LIST, count),
            limit=count,
        )
        return (await self.index.search_passages(search, timeout=_TIMEOUT_S)).hits


def _compared(
    question: LabelledQuestion, old: tuple[FusedHit, ...], new: tuple[FusedHit, ...]
) -> _Answers:
    old_ids, new_ids = ({hit.passage_id for hit in hits} for hits in (old, new))
    longest = max(len(old_ids), len(new_ids))
    expected = set(question.external_ids)
    return _Answers(
        overlap=len(old_ids & new_ids) / longest if longest else 1.0,
        old_hit=any(hit.document.external_id in expected for hit in old),
        new_hit=any(hit.document.external_id in expected for hit in new),
    )


def _objection(gate: SwitchGate, overlap: float, old_rate: float, new_rate: float) -> str:
    objections = []
    if overlap < gate.min_overlap:
        objections.append(f"overlap {overlap:.3f} is below {gate.min_overlap:g}")
    if old_rate - new_rate > gate.max_hit_loss:
        objections.append(
            f"hit rate falls from {old_rate:.3f} to {new_rate:.3f}, "
            f"by more than {gate.max_hit_loss:g}"
        )
    return "; ".join(objections)
