"""One provider of the chain with what is known of its health, its vectors and its model."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import structlog

from chassis.circuit_breaker import BreakerState, CircuitBreaker, CircuitOpen
from chassis.clock import Clock
from chassis.deadline import Deadline
from chassis.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    ResourceExhausted,
    ServiceError,
)
from chassis.vendor_errors import VendorLimited
from embedder_svc.canary import CANARY_TEXT, Canary
from embedder_svc.embedding import EmbeddedBatch, EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.price import Price
from embedder_svc.providers.protocol import EmbeddingProvider, ProviderLimits
from embedder_svc.spaces import VectorSpace
from embedder_svc.vector_cache import VectorCache

_log = structlog.get_logger("embedder_svc.chain_link")


class ProviderState(Enum):
    """Whether calls are sent to a provider."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    NOT_CONFIGURED = "not configured"
    DRIFTED = "drifted"


@dataclass(frozen=True, slots=True)
class Embedding:
    """A batch with who embedded it, into which space, in how many milliseconds.

    `cost` is None where the price is unknown. `canary` is that of the space, where the purpose is
    document and it was measured. With `cost_capped`, a provider that stands earlier
    in the chain was passed over because the workspace may not pay for it today.
    """

    batch: EmbeddedBatch
    space: VectorSpace
    provider: str
    model: str
    latency_ms: float
    cost: float | None = None
    currency: str = ""
    cost_capped: bool = False
    canary: Vectors | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class ProviderDescription:
    """What can be said of a provider now.

    `last_latency_ms` and `canary` are None before its first success.
    """

    name: str
    model: str
    space: VectorSpace
    limits: ProviderLimits
    state: ProviderState
    last_error: str
    last_latency_ms: float | None
    price: Price | None = None
    canary: Vectors | None = None


class ChainLink:
    """Calls one provider through its breaker and remembers how that went.

    `breaker` guards a provider that has none of its own. Known vectors come from the cache,
    also while the provider is down. `on_drift` is told of each call that is refused because the
    model has changed.
    """

    def __init__(
        self,
        provider: EmbeddingProvider,
        breaker: CircuitBreaker,
        clock: Clock = time.perf_counter,
        cache: VectorCache | None = None,
        on_drift: Callable[[], None] = lambda: None,
    ) -> None:
        self._provider = provider
        self._guards = provider.breaker is None
        self._breaker = provider.breaker or breaker
        self._clock = clock
        self._cache = cache or VectorCache(0, 1.0)
        self._on_drift = on_drift
        self._canary = Canary(provider.space)
        self._last_error = ""
        # Stays over checks that pass: after a restart only those who keep vectors know of a drift.
        self._drift_refusal = ""
        self._last_latency_ms: float | None = None

    @property
    def name(self) -> str:
        """The name of the provider."""
        return self._provider.name

    @property
    def space(self) -> VectorSpace:
        """The space of the provider."""
        return self._provider.space

    @property
    def is_hosted(self) -> bool:
        """Whether the provider is somewhere else, and may hang."""
        return not self._guards

    async def embed(
        self,
        texts: Sequence[str],
        purpose: EmbeddingPurpose,
        deadline: Deadline | None,
        *,
        may_pay: bool = True,
        kept_canary: Vectors | None = None,
    ) -> Embedding:
        """Embeds with this provider, asking it only for what is not known.

        Raises CircuitOpen without calling it if it failed lately, FailedPrecondition if its model
        has changed, ResourceExhausted if it would have to be paid and that is not allowed.
        """
        await self._require_same_model(kept_canary, deadline)
        start = self._clock()
        found = [self._cache.found(self.space, purpose, text) for text in texts]
        missing = [at for at, cached in enumerate(found) if cached is None]
        if missing and not may_pay and self._is_paid:
            raise ResourceExhausted(
                "the daily cost cap of the workspace is reached", reason="DAILY_COST_CAP_REACHED"
            )
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        outcomes: list[EmbeddedText] = [EmbeddedText(0)] * len(texts)
        if missing:
            fresh = await self._call([texts[at] for at in missing], purpose, deadline)
            for row, at in enumerate(missing):
                vectors[at], outcomes[at] = fresh.vectors[row], fresh.texts[row]
                self._cache.keep(self.space, purpose, texts[at], vectors[at], outcomes[at])
        for at, cached in enumerate(found):
            if cached is not None:
                vectors[at], outcomes[at] = cached.vector, cached.text
        latency_ms = (self._clock() - start) * 1e3
        batch = EmbeddedBatch(vectors, tuple(outcomes))
        price = self._provider.price
        return Embedding(
            batch,
            self.space,
            self.name,
            self._provider.model,
            latency_ms,
            cost=price.of(batch.token_count) if price is not None else None,
            currency=price.currency if price is not None else "",
            canary=self._canary.latest if purpose is EmbeddingPurpose.DOCUMENT else None,
        )

    async def check(self) -> bool:
        """Returns whether the provider can embed now; one that cannot is not called for a while."""
        try:
            with self._guarded():
                await self._provider.check()
            await self._measure_canary(None)
        except CircuitOpen:
            return False
        except Exception as error:
            self._remember(error)
            if not isinstance(error, (ResourceExhausted, VendorLimited)):
                self._breaker.trip()
            if isinstance(error, ServiceError):
                _log.warning("provider check failed", provider=self.name, error=str(error))
            else:
                _log.exception("provider check failed", provider=self.name)
            return False
        return not self._canary.drifted

    def describe(self) -> ProviderDescription:
        """Describes the provider as it is now."""
        return ProviderDescription(
            name=self.name,
            model=self._provider.model,
            space=self.space,
            limits=self._provider.limits,
            state=self._state,
            last_error=self._last_error or self._drift_refusal,
            last_latency_ms=self._last_latency_ms,
            price=self._provider.price,
            canary=self._canary.latest,
        )

    async def close(self) -> None:
        """Closes the provider."""
        await self._provider.close()

    @property
    def _state(self) -> ProviderState:
        if self._breaker.state is not BreakerState.CLOSED:
            return ProviderState.UNAVAILABLE
        return ProviderState.DRIFTED if self._canary.drifted else ProviderState.AVAILABLE

    @property
    def _is_paid(self) -> bool:
        price = self._provider.price
        return price is not None and price.per_million_tokens > 0

    async def _require_same_model(self, kept: Vectors | None, deadline: Deadline | None) -> None:
        if kept is not None and self._canary.latest is None:
            await self._measure_canary(deadline)
        try:
            self._canary.require_same(kept)
        except FailedPrecondition as error:
            self._drift_refusal = str(error)
            self._on_drift()
            raise
        if kept is not None:
            self._drift_refusal = ""

    async def _measure_canary(self, deadline: Deadline | None) -> None:
        batch = await self._call((CANARY_TEXT,), EmbeddingPurpose.DOCUMENT, deadline)
        was_drifted, is_first = self._canary.drifted, self._canary.latest is None
        self._canary.measured(batch.vectors[0])
        if is_first:
            self._cache.admit(self.space, batch.vectors[0])
        if self._canary.drifted:
            self._last_error = "answers with vectors of another model than before"
            if not was_drifted:
                # Some may have been made by the other model already.
                self._cache.forget_space(self.space)
                _log.error("space has drifted", provider=self.name, space_id=self.space.id)

    async def _call(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        start = self._clock()
        try:
            with self._guarded():
                batch = await self._provider.embed(texts, purpose, deadline)
        except CircuitOpen:
            raise
        except Exception as error:
            self._remember(error)
            raise
        self._last_error = ""
        self._last_latency_ms = (self._clock() - start) * 1e3
        return batch

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        if not self._guards:
            yield
            return
        with self._breaker.attempt(_counts):
            yield

    def _remember(self, error: Exception) -> None:
        if isinstance(error, ServiceError):
            self._last_error = str(error)
        else:
            self._last_error = "internal error; the log of the embedder tells more"


def _counts(error: Exception) -> bool | None:
    if isinstance(error, DeadlineExceeded):
        # The caller's time says nothing of the provider, neither for it nor against it.
        return None
    return not isinstance(error, (InvalidArgument, ResourceExhausted))
