"""Has the passages of a document embedded, all of them in one space.

Only passages are sent whose text has no vector in that space yet. The preferred space comes first;
where its provider is lost, the embedder's chain decides, and the document goes there whole. Where
nobody answers, what was embedded before the loss is kept, and the other passages wait.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog

from chassis.errors import ServiceError
from gateway.documents import FloatMatrix, VectorBlock
from gateway.embedding import EmbeddingPurpose
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ports import Embedder

_log = structlog.get_logger("gateway.ingestion.passage_vectors")

StoredSpaces = Mapping[str, frozenset[str]]
"""By the fingerprint of an embedded text, the spaces that hold a vector of it."""


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors to store; `space_id` is empty and `block` None where there are none.

    `waiting_count` passages have no vector in the space, old or new, because of `failure`.
    `sliced_count` passages were longer than the model's input.
    """

    space_id: str = ""
    block: VectorBlock | None = None
    waiting_count: int = 0
    sliced_count: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How texts are sent: `texts` and estimated `tokens` a call, `calls` at a time."""

    texts: int = 32
    tokens: int = 8_000
    calls: int = 2
    timeout_s: float = 120.0


class PassageVectors:
    """Asks an embedder for the vectors of documents."""

    def __init__(self, embedder: Embedder, limits: BatchLimits | None = None) -> None:
        self._embedder = embedder
        self._limits = limits or BatchLimits()
        self._calls = asyncio.Semaphore(self._limits.calls)

    async def of(
        self,
        passages: Sequence[CutPassage],
        stored: StoredSpaces,
        preferred_space_id: str,
        workspace: str,
    ) -> NewVectors:
        """Returns the vectors that the passages lack; a lost embedder is no error."""
        embedding = _Embedding(passages, stored)
        failure = ""
        for space_id in dict.fromkeys((preferred_space_id, "")):
            try:
                return embedding.result(await self._complete(embedding, space_id, workspace))
            except ServiceError as error:
                failure = str(error)
                _log.warning("embedding failed", space_id=space_id, reason=error.reason)
        return embedding.result(embedding.fullest_space(), failure)

    async def _complete(self, embedding: _Embedding, space_id: str, workspace: str) -> str:
        """Embeds all that lacks in a space, in that of the first answer if none is named."""
        if not space_id:
            first = next(self._batches(embedding, embedding.without_any()), [])
            if not first:
                return embedding.fullest_space()
            space_id = await self._embed(embedding, first, None, workspace)
        batches = self._batches(embedding, embedding.lacking(space_id))
        try:
            async with asyncio.TaskGroup() as group:
                for batch in batches:
                    group.create_task(self._embed(embedding, batch, space_id, workspace))
        except* ServiceError as errors:
            raise _first_of(errors) from errors
        return space_id

    async def _embed(
        self, embedding: _Embedding, hashes: Sequence[str], space_id: str | None, workspace: str
    ) -> str:
        async with self._calls:
            embedded = await self._embedder.embed(
                [embedding.texts[one] for one in hashes],
                EmbeddingPurpose.DOCUMENT,
                space_id,
                workspace,
                timeout=self._limits.timeout_s,
            )
        embedding.take(embedded.space_id, hashes, embedded.vectors)
        embedding.sliced.update(
            one for one, text in zip(hashes, embedded.texts, strict=True) if text.sliced
        )
        return embedded.space_id

    def _batches(self, embedding: _Embedding, hashes: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        tokens = 0
        for one in hashes:
            added = embedding.tokens[one]
            if batch and (len(batch) == self._limits.texts or tokens + added > self._limits.tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(one)
            tokens += added
        if batch:
            yield batch


@dataclass(slots=True)
class _Embedding:
    """The state of one document's embedding; equal texts are embedded once."""

    passages: Sequence[CutPassage]
    stored: StoredSpaces
    texts: dict[str, str] = field(init=False)
    tokens: dict[str, int] = field(init=False)
    rows: defaultdict[str, dict[str, FloatMatrix]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    sliced: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.texts = {p.passage.embedded_text_hash: p.embedded_text for p in self.passages}
        self.tokens = {
            p.passage.embedded_text_hash: p.passage.token_estimate for p in self.passages
        }

    def lacking(self, space_id: str) -> list[str]:
        """Returns the texts without a vector in a space, in order."""
        return [one for one in self.texts if not self._has(one, space_id)]

    def without_any(self) -> list[str]:
        """Returns the texts to begin with where no space is named: those without any vector."""
        return [one for one in self.texts if not self.stored.get(one)]

    def take(self, space_id: str, hashes: Sequence[str], vectors: FloatMatrix) -> None:
        self.rows[space_id].update(zip(hashes, vectors, strict=True))

    def fullest_space(self) -> str:
        """Returns the space that holds most of the texts; empty where none does."""
        counts = {
            space_id: len(self.texts) - len(self.lacking(space_id))
            for space_id in (*self.rows, *sorted(set().union(*self.stored.values())))
        }
        return max(counts, key=lambda space_id: counts[space_id], default="")

    def result(self, space_id: str, failure: str = "") -> NewVectors:
        new = self.rows.get(space_id, {})
        positions = [
            position
            for position, passage in enumerate(self.passages)
            if passage.passage.embedded_text_hash in new
        ]
        vectors = [new[self.passages[at].passage.embedded_text_hash] for at in positions]
        block = (
            VectorBlock(space_id, np.stack(vectors).astype(np.float32), tuple(positions))
            if vectors
            else None
        )
        waiting = sum(
            not self._has(passage.passage.embedded_text_hash, space_id) for passage in self.passages
        )
        return NewVectors(
            space_id=space_id if block else "",
            block=block,
            waiting_count=waiting,
            sliced_count=sum(p.passage.embedded_text_hash in self.sliced for p in self.passages),
            failure=failure if waiting else "",
        )

    def _has(self, one: str, space_id: str) -> bool:
        return one in self.rows.get(space_id, {}) or space_id in self.stored.get(one, ())


def _first_of(errors: BaseExceptionGroup[ServiceError]) -> ServiceError:
    first = errors.exceptions[0]
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
