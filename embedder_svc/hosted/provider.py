"""A provider whose model is somewhere else, behind HTTP."""

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chassis.circuit_breaker import CircuitBreaker
from chassis.deadline import Deadline
from chassis.vendor_client import VendorClient
from embedder_svc.embedding import (
    EmbeddedBatch,
    EmbeddedText,
    EmbeddingPurpose,
    unit_vectors,
)
from embedder_svc.hosted.batch_call import BatchCall, PieceFailure, PieceResult, PieceVector
from embedder_svc.hosted.model import HostedModel, WireFormat
from embedder_svc.hosted.piece_queue import PieceQueue
from embedder_svc.hosted.request_caps import RequestCaps
from embedder_svc.price import Price
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.providers.slicing import slices_of
from embedder_svc.spaces import VectorSpace

Prepare = Callable[[RequestCaps], Awaitable[None]]


class HostedProvider:
    """Embeds with a hosted model; slices, merges, halves and bisects as needed.

    Token counts are estimates unless a text travelled alone. `prepare` is run by each check: what
    is slow the first time, or what can be asked of the server.
    """

    def __init__(
        self,
        name: str,
        model: HostedModel,
        wire: WireFormat,
        client: VendorClient,
        *,
        prepare: Prepare | None = None,
        window_s: float = 0.001,
        concurrency: int = 4,
    ) -> None:
        self._name = name
        self._model = model
        self._client = client
        self._prepare = prepare
        self._caps = RequestCaps(model)
        call = BatchCall(model, wire, client, self._caps)
        self._queue = PieceQueue(call.embed, self._caps, window_s=window_s, concurrency=concurrency)
        self._space = model.space(name)

    @property
    def name(self) -> str:
        """The word that the settings and the space id use for it."""
        return self._name

    @property
    def model(self) -> str:
        """The model it embeds with."""
        return self._model.name

    @property
    def space(self) -> VectorSpace:
        """The space of every vector it returns."""
        return self._space

    @property
    def limits(self) -> ProviderLimits:
        """What callers plan with: the model's own figures, whatever has been learnt since."""
        return limits_of(self._model)

    @property
    def price(self) -> Price | None:
        """The price of its tokens, None if unknown."""
        return self._model.price

    @property
    def breaker(self) -> CircuitBreaker:
        """What each of its attempts passes."""
        return self._client.breaker

    async def check(self) -> None:
        """Prepares the server where there is something to prepare."""
        self._client.breaker.refuse_if_open()
        if self._prepare is not None:
            await self._prepare(self._caps)

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        """Returns one row for each text, in order; that of a failed text is zero.

        The vector of a text longer than the model's input is the average of the unit vectors of
        its slices, weighted by their tokens, brought to norm 1.
        """
        self._client.breaker.refuse_if_open()
        pieces: list[str] = []
        owners: list[int] = []
        for owner, text in enumerate(texts):
            for piece in self._pieces(text):
                pieces.append(piece)
                owners.append(owner)
        results = await self._queue.embed(pieces, purpose, deadline)
        parts: list[list[PieceResult]] = [[] for _ in texts]
        for owner, result in zip(owners, results, strict=True):
            parts[owner].append(result)
        joined = [self._joined(own) for own in parts]
        vectors = np.zeros((len(texts), self._model.dimension), dtype=np.float32)
        for row, (vector, _) in zip(vectors, joined, strict=True):
            row[:] = vector
        return EmbeddedBatch(vectors, tuple(text for _, text in joined))

    async def close(self) -> None:
        """Ends what is under way and closes the connections."""
        await self._queue.close()
        await self._client.close()

    def _pieces(self, text: str) -> list[str]:
        cleaned = text.replace("\0", " ").strip()
        limit, estimate = self._caps.input_tokens, self._caps.estimated_tokens
        if estimate(cleaned) <= limit:
            return [cleaned]
        return [each.text for each in slices_of(cleaned, limit, estimate)]

    def _joined(self, results: Sequence[PieceResult]) -> tuple[NDArray[np.floating], EmbeddedText]:
        vectors = [result for result in results if isinstance(result, PieceVector)]
        token_count = sum(result.token_count for result in vectors)
        for result in results:
            if isinstance(result, PieceFailure):
                nothing = np.zeros(self._model.dimension)
                return nothing, EmbeddedText(token_count, True, failure=result.problem)
        if len(vectors) == 1:
            [one] = vectors
            return one.vector, EmbeddedText(token_count, one.token_count_estimated, one.sliced)
        weights = [max(1, result.token_count) for result in vectors]
        average = np.average([result.vector for result in vectors], axis=0, weights=weights)
        [vector] = unit_vectors(average[None, :], 1, self._model.dimension)
        return vector, EmbeddedText(token_count, token_count_estimated=True, sliced=True)


def limits_of(model: HostedModel) -> ProviderLimits:
    """Returns what callers plan with; windows of a model that is paid for are not advised."""
    return ProviderLimits(model.input_tokens, model.tokens_per_character, windows_recommended=False)
