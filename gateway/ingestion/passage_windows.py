"""Has the windows of passages embedded, in the space of the passages' vectors.

A passage that keeps its vector keeps its windows. Windows only refine the order of what is found:
where the embedder is lost, passages go without until they are embedded later; a window that it
refuses costs itself alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
import structlog

from chassis.errors import ServiceError
from gateway.documents import FloatMatrix, VectorBlock
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ingestion.chunking.measures import token_measure, whole
from gateway.ingestion.chunking.windows import windows_of
from gateway.ingestion.embedding_calls import EmbeddingCalls, side_by_side
from gateway.ingestion.passage_vectors import NewVectors
from gateway.receipt import StageReport

_log = structlog.get_logger("gateway.ingestion.passage_windows")


class WindowChoice(Enum):
    """Which spaces get windows; AUTO = those whose provider recommends them."""

    AUTO = "auto"
    ALWAYS = "always"
    OFF = "off"


@dataclass(frozen=True, slots=True, eq=False)
class NewWindows:
    """Windows of some passages: the next `counts[i]` rows of `vectors` belong to passage i.

    `vectors` is float32, sum of counts x dimension; None where no passage has windows.
    `incomplete_count` passages lack windows that the provider refused, because of `failure`.
    """

    counts: tuple[int, ...]
    vectors: FloatMatrix | None = None
    incomplete_count: int = 0
    failure: str = ""
    reports: tuple[StageReport, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageWindows:
    """Asks an embedder for the windows of passages."""

    calls: EmbeddingCalls
    choice: WindowChoice = WindowChoice.AUTO

    async def wanted(self, space_id: str) -> bool:
        """Says whether a space gets windows; raises what the embedder raises."""
        if self.choice is not WindowChoice.AUTO:
            return self.choice is WindowChoice.ALWAYS
        return await self.calls.windows_recommended(space_id)

    async def of(
        self,
        passages: Sequence[CutPassage],
        space_id: str,
        workspace: str,
        canaries: Mapping[str, bytes] | None = None,
    ) -> NewWindows:
        """Returns the windows of passages in a space; raises what the embedder raises."""
        texts = [windows_of(passage.passage.text, passage.title) for passage in passages]
        measure = token_measure()
        tokens = {text: whole(measure(text)) for row in texts for text in row}
        embedding = _Embedding(self.calls, space_id, workspace, canaries)
        await side_by_side(embedding.embed(batch) for batch in self.calls.batches(tokens))
        return embedding.result(texts)

    async def added_to(
        self,
        new: NewVectors,
        passages: Sequence[CutPassage],
        workspace: str,
        canaries: Mapping[str, bytes] | None = None,
    ) -> NewVectors:
        """Returns the vectors with windows beside them; a lost embedder is no error.

        `passages` are those that the positions of the block count in.
        """
        block = new.block
        if block is None or self.choice is WindowChoice.OFF:
            return new
        try:
            if not await self.wanted(block.space_id):
                return new
            windows = await self.of(_of(block, passages), block.space_id, workspace, canaries)
        except ServiceError as error:
            _log.warning("windows failed", space_id=block.space_id, reason=error.reason)
            return replace(new, windowless_count=len(block.vectors), window_failure=str(error))
        empty = np.empty((0, block.vectors.shape[1]), np.float32)
        vectors = empty if windows.vectors is None else windows.vectors
        return replace(
            new,
            block=replace(block, window_counts=windows.counts, window_vectors=vectors),
            windowless_count=windows.incomplete_count,
            window_failure=windows.failure,
            reports=(*new.reports, *windows.reports),
        )


@dataclass(slots=True)
class _Embedding:
    """The state of one call of `of`; equal windows are embedded once."""

    calls: EmbeddingCalls
    space_id: str
    workspace: str
    canaries: Mapping[str, bytes] | None
    vectors: dict[str, FloatMatrix] = field(default_factory=dict)
    reports: list[StageReport] = field(default_factory=list)
    failure: str = ""

    async def embed(self, batch: Sequence[str]) -> None:
        embedded = await self.calls.embed(batch, self.space_id, self.workspace, self.canaries)
        self.reports.append(embedded.report)
        for text, vector, outcome in zip(batch, embedded.vectors, embedded.texts, strict=True):
            if outcome.failure:
                self.failure = outcome.failure
            else:
                self.vectors[text] = vector

    def result(self, texts: Sequence[Sequence[str]]) -> NewWindows:
        rows = [[self.vectors[text] for text in row if text in self.vectors] for row in texts]
        every = [vector for row in rows for vector in row]
        return NewWindows(
            counts=tuple(map(len, rows)),
            vectors=np.stack(every).astype(np.float32) if every else None,
            incomplete_count=sum(
                len(row) < len(wanted) for row, wanted in zip(rows, texts, strict=True)
            ),
            failure=self.failure,
            reports=tuple(self.reports),
        )


def _of(block: VectorBlock, passages: Sequence[CutPassage]) -> Sequence[CutPassage]:
    positions = block.passage_positions
    return passages if positions is None else [passages[at] for at in positions]
