"""A cross-encoder that is asked over HTTP.

Each passage is scored alone with the question, so that passages may be shared out over several
requests. A request that the endpoint refuses for its size is halved and a single passage that it
refuses is cut; what helped is remembered for a while.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from chassis import clock as clocks
from chassis.clock import Clock
from chassis.deadline import Deadline
from chassis.tracing.model_calls import model_span, note_usage
from chassis.vendor_client import VendorClient
from chassis.vendor_errors import VendorRefused
from chassis.vendor_http import VendorAnswer
from reranker_svc.bill import Bill, Charge
from reranker_svc.cost_cap import cost_cap_reached
from reranker_svc.endpoints.answers import document_scores, token_count
from reranker_svc.endpoints.dialects import Dialect
from reranker_svc.endpoints.document_caps import DocumentCaps, LearntCaps
from reranker_svc.passage_model import ModelOrder, Passage, order_by_scores

# What endpoints answer where the size of the request may be the reason; 413 and 422 differ by
# version of the same server.
_ABOUT_SIZE = frozenset({400, 413, 422})
_HARMLESS = "Bonjour."


@dataclass(slots=True)
class _Call:
    """One question, the caps on trial for it, its end and its bill.

    `alive` says that the endpoint has answered since something was refused.
    """

    question: str
    caps: DocumentCaps
    deadline: Deadline
    bill: Bill
    alive: bool = False


class EndpointModel:
    """Orders passages by the scores of an endpoint."""

    def __init__(
        self,
        dialect: Dialect,
        model: str,
        path: str,
        client: VendorClient,
        *,
        document_characters: int,
        clock: Clock = clocks.monotonic,
    ) -> None:
        self._dialect = dialect
        self._model = model or dialect.model
        self._path = path
        self._client = client
        self._caps = LearntCaps(DocumentCaps(dialect.request_documents, document_characters), clock)

    @property
    def name(self) -> str:
        """The dialect's name."""
        return self._dialect.name

    async def order(
        self, question: str, passages: Sequence[Passage], deadline: Deadline, bill: Bill
    ) -> ModelOrder:
        """Scores all passages; raises VendorError, CircuitOpen, RateLimited, DeadlineExceeded."""
        if self._dialect.hosted and not bill.may_pay:
            raise cost_cap_reached()
        call = _Call(question, self._caps.on_trial(), deadline, bill)
        documents = [passage.titled_text for passage in passages]
        scores = await self._scored(call, documents)
        self._caps.learn(call.caps)
        return ModelOrder(order_by_scores(scores), scores, self._dialect.name, self._model)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Closes the connections at the end."""
        async with self._client:
            yield

    async def _scored(self, call: _Call, documents: Sequence[str]) -> tuple[float, ...]:
        try:
            async with asyncio.TaskGroup() as group:
                parts = [
                    group.create_task(self._scored_at_once(call, [documents[at] for at in indices]))
                    for indices in call.caps.requests(len(documents))
                ]
        except ExceptionGroup as failures:
            # One failed part is a failed order, whatever the others are.
            raise failures.exceptions[0] from failures
        return tuple(score for part in parts for score in part.result())

    async def _scored_at_once(self, call: _Call, documents: Sequence[str]) -> tuple[float, ...]:
        sent = call.caps.shorten(call.question, documents)
        try:
            return await self._post(call, sent)
        except VendorRefused as refusal:
            if refusal.status not in _ABOUT_SIZE:
                raise
            await self._prove_alive(call, refusal)
            if not call.caps.lower(call.question, sent):
                raise
        return await self._scored(call, documents)

    async def _prove_alive(self, call: _Call, refusal: VendorRefused) -> None:
        """Opens the breaker where even a harmless request is refused: that serves nobody.

        Once a call is enough.
        """
        if call.alive:
            return
        call.alive = True
        try:
            await self._post(replace(call, question=_HARMLESS), [_HARMLESS])
        except VendorRefused:
            self._client.breaker.trip()
            raise refusal from None

    async def _post(self, call: _Call, documents: Sequence[str]) -> tuple[float, ...]:
        def read(answer: VendorAnswer) -> tuple[float, ...]:
            tokens = token_count(answer.value)
            note_usage(span, tokens, None)
            call.bill.add(self._charge(tokens, len(documents)))
            return document_scores(self._client.vendor, self._dialect, answer.value, len(documents))

        with model_span("rerank", self._client.vendor, self._model) as span:
            return await self._client.post_read(
                self._path,
                self._body(call.question, documents),
                read,
                timeout_s=call.deadline.remaining(),
            )

    def _body(self, question: str, documents: Sequence[str]) -> dict[str, Any]:
        dialect = self._dialect
        body: dict[str, Any] = {"query": question, dialect.documents_key: documents}
        if self._model:
            body["model"] = self._model
        if dialect.cut_key is not None:
            body[dialect.cut_key] = len(documents)
        return body | dict(dialect.fields)

    def _charge(self, tokens: int, document_count: int) -> Charge:
        price = self._dialect.price_of(self._model)
        return Charge(
            self._dialect.name,
            self._model,
            tokens,
            cost=None if price is None else price.of(tokens, document_count),
            currency="" if price is None else price.currency,
        )
