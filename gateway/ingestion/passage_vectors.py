"""Has the passages of a document embedded, all of them in one space.

Only passages are sent whose text has no vector in that space yet. The preferred space comes first;
where its provider is lost, the embedder's chain decides, and the document goes there whole. Where
nobody answers, what was embedded before the loss is kept, and the other passages wait. A passage
that the provider refuses, while it embeds others, waits alone: another space would get all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog

from chassis.errors import ServiceError
from gateway.documents import FloatMatrix, VectorBlock
from gateway.embedding import EmbeddedTexts
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ingestion.embedding_calls import EmbeddingCalls, side_by_side
from gateway.receipt import StageReport

_log = structlog.get_logger("gateway.ingestion.passage_vectors")

StoredSpaces = Mapping[str, frozenset[str]]
"""By the fingerprint of an embedded text, the spaces that hold a vector of it."""


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors to store; `space_id` is empty and `block` None where there are none.

    `waiting_count` passages have no vector in the space, old or new: those whose `chunk_index` is
    in `refused`, with the reason, and others because of `failure`. Those whose `chunk_index` is in
    `sliced` were longer than the model's input. `windowless_count` passages have a new vector but
    not all the windows that belong to it, because of `window_failure`. `reports` are those of the
    calls that were answered.
    """

    space_id: str = ""
    block: VectorBlock | None = None
    waiting_count: int = 0
    refused: Mapping[int, str] = field(default_factory=dict)
    sliced: tuple[int, ...] = ()
    failure: str = ""
    windowless_count: int = 0
    window_failure: str = ""
    reports: tuple[StageReport, ...] = field(default=(), compare=False)


class PassageVectors:
    """Asks an embedder for the vectors of documents."""

    def __init__(self, calls: EmbeddingCalls) -> None:
        self._calls = calls

    async def of(
        self,
        passages: Sequence[CutPassage],
        stored: StoredSpaces,
        preferred_space_id: str,
        workspace: str,
        canaries: Mapping[str, bytes] | None = None,
    ) -> NewVectors:
        """Returns the vectors that the passages lack; a lost embedder is no error.

        A provider whose model is no longer that of its space's canary counts as lost.
        """
        embedding = _Embedding(passages, stored, canaries)
        failure = ""
        for space_id in dict.fromkeys((preferred_space_id, "")):
            try:
                return embedding.result(await self._complete(embedding, space_id, workspace))
            except ServiceError as error:
                failure = str(error)
                _log.warning("embedding failed", space_id=space_id, reason=error.reason)
        return embedding.result(embedding.fullest_space(), failure)

    async def in_space(
        self,
        passages: Sequence[CutPassage],
        space_id: str,
        workspace: str,
        canaries: Mapping[str, bytes] | None = None,
    ) -> NewVectors:
        """Returns vectors of all passages in one space; raises what the embedder raises."""
        embedding = _Embedding(passages, {}, canaries)
        return embedding.result(await self._complete(embedding, space_id, workspace))

    async def _complete(self, embedding: _Embedding, space_id: str, workspace: str) -> str:
        """Embeds all that lacks in a space, in that of the first answer if none is named."""
        if not space_id:
            first = next(self._batches(embedding, embedding.without_any()), [])
            if not first:
                return embedding.fullest_space()
            space_id = await self._embed(embedding, first, None, workspace)
        batches = self._batches(embedding, embedding.lacking(space_id))
        await side_by_side(self._embed(embedding, batch, space_id, workspace) for batch in batches)
        return space_id

    async def _embed(
        self, embedding: _Embedding, hashes: Sequence[str], space_id: str | None, workspace: str
    ) -> str:
        texts = [embedding.texts[one] for one in hashes]
        embedded = await self._calls.embed(texts, space_id, workspace, embedding.canaries)
        embedding.take(hashes, embedded)
        return embedded.space_id

    def _batches(self, embedding: _Embedding, hashes: Sequence[str]) -> Iterator[list[str]]:
        return self._calls.batches({one: embedding.tokens[one] for one in hashes})


@dataclass(slots=True)
class _Embedding:
    """The state of one document's embedding; equal texts are embedded once."""

    passages: Sequence[CutPassage]
    stored: StoredSpaces
    canaries: Mapping[str, bytes] | None = None
    texts: dict[str, str] = field(init=False)
    tokens: dict[str, int] = field(init=False)
    rows: defaultdict[str, dict[str, FloatMatrix]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    sliced: set[str] = field(default_factory=set)
    reports: list[StageReport] = field(default_factory=list)
    new_canaries: dict[str, bytes] = field(default_factory=dict)
    refused: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        self.texts = {p.passage.embedded_text_hash: p.embedded_text for p in self.passages}
        self.tokens = {
            p.passage.embedded_text_hash: p.passage.token_estimate for p in self.passages
        }

    def lacking(self, space_id: str) -> list[str]:
        """Returns the texts to send for a space, in order: without a vector, and not refused."""
        refused = self.refused[space_id]
        return [one for one in self.texts if not self._has(one, space_id) and one not in refused]

    def without_any(self) -> list[str]:
        """Returns the texts to begin with where no space is named: those without any vector."""
        return [one for one in self.texts if not self.stored.get(one)]

    def take(self, hashes: Sequence[str], embedded: EmbeddedTexts) -> None:
        rows, refused = self.rows[embedded.space_id], self.refused[embedded.space_id]
        self.reports.append(embedded.report)
        self.new_canaries[embedded.space_id] = embedded.canary
        for one, vector, text in zip(hashes, embedded.vectors, embedded.texts, strict=True):
            if text.failure:
                refused[one] = text.failure
                continue
            rows[one] = vector
            if text.sliced:
                self.sliced.add(one)

    def fullest_space(self) -> str:
        """Returns the space that holds most of the texts; empty where none does."""
        counts = {
            space_id: sum(self._has(one, space_id) for one in self.texts)
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
            VectorBlock(
                space_id,
                np.stack(vectors).astype(np.float32),
                tuple(positions),
                canary=self.new_canaries.get(space_id, b""),
                sliced_rows=frozenset(
                    row
                    for row, at in enumerate(positions)
                    if self.passages[at].passage.embedded_text_hash in self.sliced
                ),
            )
            if vectors
            else None
        )
        waiting = [
            p.passage
            for p in self.passages
            if not self._has(p.passage.embedded_text_hash, space_id)
        ]
        refusals = self.refused[space_id]
        refused = {
            passage.chunk_index: refusals[passage.embedded_text_hash]
            for passage in waiting
            if passage.embedded_text_hash in refusals
        }
        return NewVectors(
            space_id=space_id if block else "",
            block=block,
            waiting_count=len(waiting),
            refused=refused,
            sliced=tuple(
                p.passage.chunk_index
                for p in self.passages
                if p.passage.embedded_text_hash in self.sliced
            ),
            failure=failure if len(waiting) > len(refused) else "",
            reports=tuple(self.reports),
        )

    def _has(self, one: str, space_id: str) -> bool:
        return one in self.rows.get(space_id, {}) or space_id in self.stored.get(one, ())
