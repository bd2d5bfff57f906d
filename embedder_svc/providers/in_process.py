"""A provider whose model runs in this process, on two threads: one for queries, one for documents.

A query waits for no document: its thread works beside the other one. A batch is embedded in steps
of about `STEP_TOKENS` tokens or one model input, so that it ends soon after its caller has gone.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chassis.deadline import Deadline
from chassis.step_worker import StepWorker
from embedder_svc.embedding import (
    EmbeddedBatch,
    EmbeddedText,
    EmbeddingPurpose,
    Vectors,
    unit_vectors,
)
from embedder_svc.price import FREE, Price
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.providers.slicing import slices_of
from embedder_svc.spaces import VectorSpace

# Short texts share a step up to this many tokens: more gain no speed.
STEP_TOKENS = 128

_WARM_UP = ("Bonjour.",)


class TextModel(Protocol):
    """A model in memory; its methods are called on two threads at the same time."""

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors."""

    @property
    def limits(self) -> ProviderLimits:
        """What callers plan with."""

    def load(self) -> None:
        """Brings the model into memory if it is not there; raises Unavailable if that fails."""

    def cleaned(self, text: str) -> str:
        """Returns the text as the model can take it; never empty for a non-blank text."""

    def token_count(self, text: str, purpose: EmbeddingPurpose) -> int:
        """Counts the tokens of a cleaned text with its prefix and special tokens."""

    def prefix_token_count(self, purpose: EmbeddingPurpose) -> int:
        """Counts the tokens that the model adds to every text, special tokens included."""

    def encode(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> Vectors:
        """Returns one row for each cleaned text that fits into the model, prefix added here."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text, or a slice of one, that fits into the model."""

    text_index: int
    text: str
    token_count: int


class InProcessProvider:
    """Embeds with a TextModel; a thread for each purpose, long texts in slices."""

    def __init__(self, model: TextModel) -> None:
        self._model = model
        self._workers = {
            purpose: StepWorker(f"{model.space.provider} {purpose.value} embedding")
            for purpose in EmbeddingPurpose
        }

    @property
    def name(self) -> str:
        """The word that the settings and the space id use for it."""
        return self._model.space.provider

    @property
    def model(self) -> str:
        """The model it embeds with."""
        return self._model.space.model

    @property
    def space(self) -> VectorSpace:
        """The space of every vector it returns."""
        return self._model.space

    @property
    def limits(self) -> ProviderLimits:
        """What callers plan with."""
        return self._model.limits

    @property
    def price(self) -> Price:
        """Costs nothing."""
        return FREE

    @property
    def breaker(self) -> None:
        """Has none: its caller guards each call."""
        return

    @property
    def waiting_count(self) -> int:
        """Batches that wait for their next step."""
        return sum(worker.waiting_count for worker in self._workers.values())

    async def check(self) -> None:
        """Loads the model and embeds a word with it."""
        await self.embed(_WARM_UP, EmbeddingPurpose.QUERY, None)

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        """Returns one row for each text, in order.

        The vector of a text that is longer than the model's input is the average of the unit
        vectors of its slices, weighted by their tokens (prefix not counted), brought to norm 1.
        """
        steps = self._embedding(tuple(texts), purpose)
        return await self._workers[purpose].run(steps, deadline=deadline)

    async def close(self) -> None:
        """Ends the threads after the steps at work."""
        for worker in self._workers.values():
            await worker.close()

    def _embedding(
        self, texts: Sequence[str], purpose: EmbeddingPurpose
    ) -> Generator[None, None, EmbeddedBatch]:
        self._model.load()
        pieces: list[_Piece] = []
        outcomes: list[EmbeddedText] = []
        for index, text in enumerate(texts):
            outcomes.append(self._cut(index, text, purpose, pieces))
            yield
        prefix_tokens = self._model.prefix_token_count(purpose)
        sums: NDArray[np.float64] = np.zeros((len(texts), self.space.dimension))
        for group in _groups(pieces):
            vectors = self._model.encode([piece.text for piece in group], purpose)
            weighted = unit_vectors(vectors, len(group), self.space.dimension)
            for piece, vector in zip(group, weighted, strict=True):
                sums[piece.text_index] += max(1, piece.token_count - prefix_tokens) * vector
            yield
        return EmbeddedBatch(unit_vectors(sums, len(texts), self.space.dimension), tuple(outcomes))

    def _cut(
        self, index: int, text: str, purpose: EmbeddingPurpose, pieces: list[_Piece]
    ) -> EmbeddedText:
        cleaned = self._model.cleaned(text)
        limit = self.limits.input_tokens
        token_count = self._model.token_count(cleaned, purpose)
        if token_count <= limit:
            pieces.append(_Piece(index, cleaned, token_count))
            return EmbeddedText(token_count)
        slices = slices_of(cleaned, limit, lambda head: self._model.token_count(head, purpose))
        pieces.extend(_Piece(index, each.text, each.token_count) for each in slices)
        return EmbeddedText(token_count, sliced=True)


def _groups(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Yields the pieces in order, in groups of at most STEP_TOKENS tokens or of one piece."""
    group: list[_Piece] = []
    tokens = 0
    for piece in pieces:
        if group and tokens + piece.token_count > STEP_TOKENS:
            yield group
            group, tokens = [], 0
        group.append(piece)
        tokens += piece.token_count
    if group:
        yield group
