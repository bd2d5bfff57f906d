"""An embedder at contract level, for tests of whoever calls one.

    fake = FakeEmbedder("mistral/mistral-embed@1/16/l2/none", "embedded/e5@1/16/l2/e5")
    async with serving_fake_embedder(fake) as address:
        ...                                   # point a client at `address`
        fake.break_down()                     # every provider: UNAVAILABLE
        fake.break_down("embedded/e5@1/16/l2/e5", ResourceExhausted("busy", retry_after_s=2))
        fake.recover()
        with fake.holding():                  # answers wait until the block is left
            await fake.arrival(1)             # a request has come and is being held

Spaces are given in chain order. Without a space in the request the first provider that works
answers; with one, only its own. Texts that share words are near each other inside a space; the
vectors of two spaces are rotated copies, so that a comparison across spaces gives noise even
where the widths are equal. Both purposes give the same vector. `requests` holds every EmbedTexts
request in order of arrival; `embedded_texts` the texts that were answered.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any

import grpc.aio
import numpy as np
from numpy.typing import NDArray

from chassis.errors import FailedPrecondition, InvalidArgument, NotFound, ServiceError, Unavailable
from chassis.metrics import Metrics
from chassis.server import ServedService, ServerSettings, running_server
from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1 import embedder_pb2_grpc

SERVICE_NAME = "justesse.embedder.v1.EmbedderService"
DEFAULT_SPACE_ID = "fake/words@1/16/l2/none"

_Context = grpc.aio.ServicerContext[Any, Any]


class FakeEmbedder(embedder_pb2_grpc.EmbedderServiceServicer):
    """Answers like an embedder whose providers have these spaces; fails and waits as told.

    `latency_s` is added to every answer; `sliced_over_words` flags longer texts as sliced;
    texts with a word of `refused_words` cannot be embedded. A token is a word.
    """

    def __init__(self, *space_ids: str) -> None:
        self.space_ids = space_ids or (DEFAULT_SPACE_ID,)
        self.latency_s = 0.0
        self.sliced_over_words = 400
        self.refused_words: set[str] = set()
        self.windows_recommended = False
        self.requests: list[pb.EmbedTextsRequest] = []
        self.embedded_texts: list[str] = []
        self.price_per_million_tokens = 0.0
        self.token_rates: dict[str, float] = {}
        self._drifted: set[str] = set()
        self._outages: dict[str, ServiceError] = {}
        self._open = asyncio.Event()
        self._open.set()
        self._arrived = asyncio.Condition()

    async def arrival(self, count: int) -> None:
        """Waits until that many EmbedTexts requests have come in all."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)

    def break_down(self, space_id: str | None = None, error: ServiceError | None = None) -> None:
        """Lets the provider of this space, or every provider, fail with the error."""
        for each in self.space_ids if space_id is None else (space_id,):
            self._outages[each] = error or Unavailable(f"the provider of {each} is down")

    def recover(self, space_id: str | None = None) -> None:
        """Ends the outage of this space, or all of them."""
        for each in self.space_ids if space_id is None else (space_id,):
            self._outages.pop(each, None)

    def drift(self, space_id: str) -> None:
        """Exchanges the model of this space for another one."""
        self._drifted.add(space_id)

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Keeps EmbedTexts from answering until the block is left, or the caller gives up."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    async def EmbedTexts(
        self, request: pb.EmbedTextsRequest, context: _Context
    ) -> pb.EmbedTextsResponse:
        """Answers, waits or fails as told."""
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        await self._open.wait()
        await asyncio.sleep(self.latency_s)
        if not request.texts or not all(text.strip() for text in request.texts):
            raise InvalidArgument("texts is empty or holds a blank text", field="texts")
        space_id = self._answering(request)
        self.embedded_texts.extend(request.texts)
        provider, model, dimension = _parts(space_id)
        counts = [len(text.split()) for text in request.texts]
        failures = [self._failure(text) for text in request.texts]
        if any(failures) and not request.accept_failures:
            raise InvalidArgument("a text cannot be embedded", field="texts")
        vectors = fake_vectors(self._model(space_id), *request.texts)
        vectors[[bool(failure) for failure in failures]] = 0
        return pb.EmbedTextsResponse(
            space_id=space_id,
            dimension=dimension,
            vectors=vectors.astype("<f4").tobytes(),
            texts=[
                pb.EmbeddedText(
                    token_count=count, sliced=count > self.sliced_over_words, failure=failure
                )
                for count, failure in zip(counts, failures, strict=True)
            ],
            report=pb.StageReport(
                outcome=pb.STAGE_OUTCOME_RAN,
                provider=provider,
                model=model,
                latency_ms=self.latency_s * 1e3,
                input_token_count=sum(counts),
                cost=sum(counts) * self.price_per_million_tokens / 1e6,
                currency="EUR",
            ),
            canary_vector=(
                self._canary(space_id) if request.purpose == pb.EMBEDDING_PURPOSE_DOCUMENT else None
            ),
        )

    async def DescribeProviders(
        self, request: pb.DescribeProvidersRequest, context: _Context
    ) -> pb.DescribeProvidersResponse:
        """Describes one provider a space, in chain order."""
        return pb.DescribeProvidersResponse(
            providers=[self._described(space_id) for space_id in self.space_ids]
        )

    async def ForgetTexts(
        self, request: pb.ForgetTextsRequest, context: _Context
    ) -> pb.ForgetTextsResponse:
        """Has nothing to forget."""
        return pb.ForgetTextsResponse()

    def served(self) -> ServedService:
        """The service, to be served alone or beside others."""

        def register(server: grpc.aio.Server) -> None:
            embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(self, server)

        return ServedService(SERVICE_NAME, register)

    def _failure(self, text: str) -> str:
        refused = self.refused_words.intersection(text.split())
        return f"the model refuses {min(refused)}" if refused else ""

    def _answering(self, request: pb.EmbedTextsRequest) -> str:
        asked = request.HasField("space_id")
        if asked and request.space_id not in self.space_ids:
            raise NotFound(
                f"no configured provider serves the space {request.space_id}",
                reason="SPACE_NOT_SERVED",
            )
        kept = {one.space_id: one.vector for one in request.kept_canaries}
        failure: ServiceError | None = None
        for space_id in (request.space_id,) if asked else self.space_ids:
            failure = self._outages.get(space_id)
            if failure is None and kept.get(space_id, b"") not in (b"", self._canary(space_id)):
                failure = FailedPrecondition(f"{space_id} has drifted", reason="SPACE_DRIFTED")
            if failure is None:
                return space_id
        assert failure is not None
        raise failure

    def _model(self, space_id: str) -> str:
        """Names the model behind a space, in the form of a space id."""
        if space_id not in self._drifted:
            return space_id
        provider, model, *rest = space_id.split("/")
        return "/".join([f"{provider}-drifted", model, *rest])

    def _canary(self, space_id: str) -> bytes:
        return fake_vectors(self._model(space_id), "a canary").astype("<f4").tobytes()

    def _described(self, space_id: str) -> pb.Provider:
        provider, model, dimension = _parts(space_id)
        outage = self._outages.get(space_id)
        return pb.Provider(
            name=provider,
            model=model,
            space_id=space_id,
            dimension=dimension,
            input_limit_tokens=self.sliced_over_words,
            tokens_per_character=self.token_rates.get(space_id, 0.2),
            state=(
                pb.PROVIDER_STATE_AVAILABLE if outage is None else pb.PROVIDER_STATE_UNAVAILABLE
            ),
            last_error="" if outage is None else str(outage),
            windows_recommended=self.windows_recommended,
            canary_vector=self._canary(space_id),
            price_per_million_tokens=self.price_per_million_tokens,
            currency="EUR",
        )


def fake_vectors(space_id: str, *texts: str) -> NDArray[np.float32]:
    """Returns the unit vectors (n x d, float32) that a FakeEmbedder gives these texts."""
    dimension = _parts(space_id)[2]
    rows = np.stack([_bag_of_words(text, dimension) for text in texts]) @ _rotation(space_id)
    units: NDArray[np.float32] = rows.astype(np.float32)
    return units


@asynccontextmanager
async def serving_fake_embedder(fake: FakeEmbedder) -> AsyncIterator[str]:
    """Serves the fake on a free port of this machine; yields its address."""
    settings = ServerSettings(drain_grace_s=0.0)
    async with running_server([fake.served()], settings, metrics=Metrics()) as server:
        yield server.address


def _parts(space_id: str) -> tuple[str, str, int]:
    provider, model, dimension, _, _ = space_id.split("/")
    return provider, model.partition("@")[0], int(dimension)


def _bag_of_words(text: str, dimension: int) -> NDArray[np.float64]:
    row = sum((_word_row(word, dimension) for word in text.casefold().split()), np.zeros(dimension))
    unit: NDArray[np.float64] = row / np.linalg.norm(row)
    return unit


@cache
def _word_row(word: str, dimension: int) -> NDArray[np.float64]:
    return _generator(word).standard_normal(dimension)


@cache
def _rotation(space_id: str) -> NDArray[np.float64]:
    dimension = _parts(space_id)[2]
    rotation: NDArray[np.float64] = np.linalg.qr(
        _generator(space_id).standard_normal((dimension, dimension))
    ).Q
    return rotation


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(list(hashlib.sha256(name.encode()).digest()))
