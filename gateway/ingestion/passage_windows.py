"""Has the windows of newly embedded passages embedded, in the space of the passages' vectors.

A passage that keeps its vector keeps its windows. Windows only refine the order of what is found:
where the embedder is lost, or refuses one, passages go without.
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


@dataclass(frozen=True, slots=True)
class PassageWindows:
    """Asks an embedder for the windows of documents."""

    calls: EmbeddingCalls
    choice: WindowChoice = WindowChoice.AUTO

    async def added_to(
        self, new: NewVectors, passages: Sequence[CutPassage], workspace: str
    ) -> NewVectors:
        """Returns the vectors with windows beside them; a lost embedder is no error.

        `passages` are those that the positions of the block count in.
        """
        block = new.block
        if block is None or self.choice is WindowChoice.OFF:
            return new
        texts = [
            windows_of(passage.passage.text, passage.title) for passage in _of(block, passages)
        ]
        if not any(texts):
            return new
        embedding = _WindowEmbedding()
        try:
            if not await self._wanted(block.space_id):
                return new
            await self._embed(embedding, texts, block.space_id, workspace)
        except ServiceError as error:
            embedding.failure = str(error)
        if embedding.failure:
            _log.warning("windows lack", space_id=block.space_id, failure=embedding.failure)
        return replace(
            new,
            block=_with_windows(block, texts, embedding.vectors),
            windowless_count=sum(not embedding.vectors.keys() >= set(row) for row in texts),
            window_failure=embedding.failure,
            reports=(*new.reports, *embedding.reports),
        )

    async def _wanted(self, space_id: str) -> bool:
        return self.choice is WindowChoice.ALWAYS or await self.calls.windows_recommended(space_id)

    async def _embed(
        self,
        embedding: _WindowEmbedding,
        texts: Sequence[Sequence[str]],
        space_id: str,
        workspace: str,
    ) -> None:
        measure = token_measure()
        tokens = {text: whole(measure(text)) for row in texts for text in row}
        await side_by_side(
            self._embed_batch(embedding, batch, space_id, workspace)
            for batch in self.calls.batches(tokens)
        )

    async def _embed_batch(
        self, embedding: _WindowEmbedding, batch: Sequence[str], space_id: str, workspace: str
    ) -> None:
        embedded = await self.calls.embed(batch, space_id, workspace)
        embedding.reports.append(embedded.report)
        for text, vector, outcome in zip(batch, embedded.vectors, embedded.texts, strict=True):
            if outcome.failure:
                embedding.failure = outcome.failure
            else:
                embedding.vectors[text] = vector


@dataclass(slots=True)
class _WindowEmbedding:
    """The state of one document's windows; `failure` tells why some have no vector."""

    vectors: dict[str, FloatMatrix] = field(default_factory=dict)
    reports: list[StageReport] = field(default_factory=list)
    failure: str = ""


def _of(block: VectorBlock, passages: Sequence[CutPassage]) -> Sequence[CutPassage]:
    positions = block.passage_positions
    return passages if positions is None else [passages[at] for at in positions]


def _with_windows(
    block: VectorBlock, texts: Sequence[Sequence[str]], vectors: Mapping[str, FloatMatrix]
) -> VectorBlock:
    """Returns the block with those windows that have a vector."""
    rows = [[vectors[text] for text in row if text in vectors] for row in texts]
    if not any(rows):
        return block
    return replace(
        block,
        window_counts=tuple(map(len, rows)),
        window_vectors=np.stack([vector for row in rows for vector in row]).astype(np.float32),
    )
