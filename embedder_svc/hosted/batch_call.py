"""Embeds one request's texts whatever the vendor dislikes about them.

A request that is too large is halved, and how much was accepted is remembered. A text that is too
long is cut in two. A text that the vendor cannot embed is found by bisection and reported, and
the others succeed; before that, a harmless text proves that it is not the request as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from chassis.deadline import Deadline
from chassis.tracing.model_calls import model_span, note_usage
from chassis.vendor_client import VendorClient
from chassis.vendor_errors import VendorError, VendorGarbled, VendorRefused
from chassis.vendor_http import VendorAnswer
from embedder_svc.embedding import EmbeddingPurpose, Vectors, unit_vectors
from embedder_svc.hosted.answers import unit_rows
from embedder_svc.hosted.model import HostedModel, WireFormat
from embedder_svc.hosted.refusals import SIZES, Refusal, refusal_of
from embedder_svc.hosted.request_caps import RequestCaps

HARMLESS_TEXT = "Bonjour."
_TOTAL_TIMEOUT_S = 60.0
# A text that is still too long at this length has another fault.
_SHORTEST_CUT = 16


@dataclass(frozen=True, slots=True, eq=False)
class PieceVector:
    """A vector of norm 1 and its tokens; `sliced` if the piece had to be cut after all."""

    vector: Vectors
    token_count: int
    token_count_estimated: bool
    sliced: bool = False


@dataclass(frozen=True, slots=True)
class PieceFailure:
    """Why the vendor cannot embed this piece, though it embeds others."""

    problem: str


PieceResult = PieceVector | PieceFailure


@dataclass(slots=True)
class _Call:
    """One call with its end, what it may still cost, and whether a harmless text has passed."""

    purpose: EmbeddingPurpose
    deadline: Deadline
    requests_left: int
    proved_alive: bool = False


class BatchCall:
    """Sends texts to one model of one vendor."""

    def __init__(
        self, model: HostedModel, wire: WireFormat, client: VendorClient, caps: RequestCaps
    ) -> None:
        self._model = model
        self._wire = wire
        self._client = client
        self._caps = caps

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> list[PieceResult]:
        """Returns a result for each text, in order; raises VendorError if the vendor is at fault.

        At most 64 requests and 8 for each text are spent on finding out what is wrong.
        """
        call = _Call(
            purpose,
            deadline or Deadline.after(_TOTAL_TIMEOUT_S),
            requests_left=64 + 8 * len(texts),
        )
        return await self._embed(list(texts), call)

    async def _embed(self, texts: list[str], call: _Call) -> list[PieceResult]:
        try:
            return list(await self._post(texts, call))
        except (VendorRefused, VendorGarbled) as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            if refusal is Refusal.PERMANENT or call.requests_left <= 0:
                self._client.breaker.trip()
                raise
            if len(texts) == 1 or refusal is Refusal.TEXT:
                await self._prove_alive(call, error)
            if len(texts) > 1:
                return await self._in_halves(texts, call, refusal)
            [text] = texts
            if refusal in SIZES and len(text) >= _SHORTEST_CUT:
                return [await self._cut(text, call)]
            return [PieceFailure(f"{error.vendor} cannot embed this text")]

    async def _in_halves(
        self, texts: list[str], call: _Call, refusal: Refusal
    ) -> list[PieceResult]:
        middle = (len(texts) + 1) // 2
        results = await self._embed(texts[:middle], call)
        if refusal not in SIZES:
            return results + await self._embed(texts[middle:], call)
        before = self._caps.request
        if any(isinstance(result, PieceVector) for result in results):
            self._caps.lower(refusal, texts[:middle])
        for batch in self._caps.batches(texts[middle:]):
            results += await self._embed(batch, call)
        if refusal is not Refusal.TOO_MANY_TEXTS and any(map(_was_to_blame, results)):
            # One text was too long in itself, which says nothing of how many fit beside others.
            self._caps.request = before
        return results

    async def _cut(self, text: str, call: _Call) -> PieceResult:
        self._caps.saw_too_long(text)
        middle = text.rfind(" ", 1, len(text) // 2 + 1)
        middle = middle if middle > len(text) // 4 else len(text) // 2
        halves = [half for half in (text[:middle].strip(), text[middle:].strip()) if half]
        results = list(chain.from_iterable([await self._embed([half], call) for half in halves]))
        vectors = [result for result in results if isinstance(result, PieceVector)]
        if len(vectors) < len(results):
            return next(result for result in results if isinstance(result, PieceFailure))
        average = np.average(
            [result.vector for result in vectors], axis=0, weights=[len(half) for half in halves]
        )
        return PieceVector(
            unit_vectors(average[None, :], 1, self._model.dimension)[0],
            sum(result.token_count for result in vectors),
            token_count_estimated=True,
            sliced=True,
        )

    async def _prove_alive(self, call: _Call, error: VendorError) -> None:
        if call.proved_alive:
            return
        try:
            await self._post([HARMLESS_TEXT], call)
        except (VendorRefused, VendorGarbled) as refused:
            # What refuses even this serves nobody.
            self._client.breaker.trip()
            raise error from refused
        call.proved_alive = True

    async def _post(self, texts: list[str], call: _Call) -> list[PieceVector]:
        call.requests_left -= 1
        prefix = self._model.prefixes.of(call.purpose)
        estimates = [self._caps.estimated_tokens(text) for text in texts]

        def read(answer: VendorAnswer) -> tuple[Vectors, int | None]:
            rows = self._wire.rows(self._client.vendor, answer.value, len(texts))
            self._refuse_cut(texts, rows.token_count)
            return unit_rows(self._client.vendor, rows, self._model.dimension), rows.token_count

        with model_span("embeddings", self._client.vendor, self._model.name) as span:
            vectors, token_count = await self._client.post_read(
                self._wire.path,
                self._wire.body([prefix + text for text in texts], call.purpose),
                read,
                tokens=float(sum(estimates)),
                timeout_s=call.deadline.remaining(),
                yielding=call.purpose is EmbeddingPurpose.DOCUMENT,
            )
            note_usage(span, token_count, None)
        if token_count is not None:
            self._caps.saw_tokens(texts, token_count)
        counted = _shares(estimates, token_count)
        estimated = token_count is None or len(texts) > 1
        return [
            PieceVector(vector, count, estimated)
            for vector, count in zip(vectors, counted, strict=True)
        ]

    def _refuse_cut(self, texts: Sequence[str], token_count: int | None) -> None:
        if not self._wire.count_shows_cut or len(texts) != 1 or token_count is None:
            return
        if token_count >= self._caps.input_tokens and len(texts[0]) >= _SHORTEST_CUT:
            raise VendorRefused(
                self._client.vendor,
                "cut the text",
                status=413,
                excerpt=f"input length {token_count}",
            )


def _was_to_blame(result: PieceResult) -> bool:
    return isinstance(result, PieceFailure) or result.sliced


def _shares(estimates: Sequence[int], token_count: int | None) -> list[int]:
    """Returns the tokens of each text: the vendor's count, shared out by the estimates."""
    if token_count is None:
        return list(estimates)
    total, shared, counts = sum(estimates), 0, []
    for seen in np.cumsum(estimates):
        upto = round(token_count * int(seen) / total)
        counts.append(upto - shared)
        shared = upto
    return counts
