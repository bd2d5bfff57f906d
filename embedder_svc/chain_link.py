"""One provider of the chain with what is known of its health."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import structlog

from chassis.circuit_breaker import BreakerState, CircuitBreaker, CircuitOpen
from chassis.clock import Clock
from chassis.deadline import Deadline
from chassis.errors import (
    DeadlineExceeded,
    InvalidArgument,
    ResourceExhausted,
    ServiceError,
)
from embedder_svc.embedding import EmbeddedBatch, EmbeddingPurpose
from embedder_svc.providers.protocol import EmbeddingProvider, ProviderLimits
from embedder_svc.spaces import VectorSpace

_log = structlog.get_logger("embedder_svc.chain_link")


class ProviderState(Enum):
    """Whether calls are sent to a provider."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Embedding:
    """A batch with who embedded it, into which space, in how many milliseconds."""

    batch: EmbeddedBatch
    space: VectorSpace
    provider: str
    model: str
    latency_ms: float


@dataclass(frozen=True, slots=True)
class ProviderDescription:
    """What can be said of a provider now; `last_latency_ms` is None before its first success."""

    name: str
    model: str
    space: VectorSpace
    limits: ProviderLimits
    state: ProviderState
    last_error: str
    last_latency_ms: float | None


class ChainLink:
    """Calls one provider through its breaker and remembers how that went."""

    def __init__(
        self,
        provider: EmbeddingProvider,
        breaker: CircuitBreaker,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._provider = provider
        self._breaker = breaker
        self._clock = clock
        self._last_error = ""
        self._last_latency_ms: float | None = None

    @property
    def name(self) -> str:
        """The name of the provider."""
        return self._provider.name

    @property
    def space(self) -> VectorSpace:
        """The space of the provider."""
        return self._provider.space

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> Embedding:
        """Embeds with this provider; raises CircuitOpen without calling it if it failed lately."""
        start = self._clock()
        try:
            with self._breaker.attempt(self._counts):
                batch = await self._provider.embed(texts, purpose, deadline)
        except CircuitOpen:
            raise
        except Exception as error:
            self._remember(error)
            raise
        latency_ms = (self._clock() - start) * 1e3
        self._last_latency_ms = latency_ms
        self._last_error = ""
        return Embedding(batch, self.space, self.name, self._provider.model, latency_ms)

    async def check(self) -> bool:
        """Returns whether the provider can embed now; one that cannot is not called for a while."""
        try:
            with self._breaker.attempt():
                await self._provider.check()
        except CircuitOpen:
            return False
        except Exception as error:
            self._remember(error)
            self._breaker.trip()
            if isinstance(error, ServiceError):
                _log.warning("provider check failed", provider=self.name, error=str(error))
            else:
                _log.exception("provider check failed", provider=self.name)
            return False
        self._last_error = ""
        return True

    def describe(self) -> ProviderDescription:
        """Describes the provider as it is now."""
        closed = self._breaker.state is BreakerState.CLOSED
        return ProviderDescription(
            name=self.name,
            model=self._provider.model,
            space=self.space,
            limits=self._provider.limits,
            state=ProviderState.AVAILABLE if closed else ProviderState.UNAVAILABLE,
            last_error=self._last_error,
            last_latency_ms=self._last_latency_ms,
        )

    async def close(self) -> None:
        """Closes the provider."""
        await self._provider.close()

    def _counts(self, error: Exception) -> bool:
        if isinstance(error, DeadlineExceeded):
            # The caller's time says nothing of the provider, but is no proof of recovery either.
            return self._breaker.state is BreakerState.HALF_OPEN
        return not isinstance(error, (InvalidArgument, ResourceExhausted))

    def _remember(self, error: Exception) -> None:
        if isinstance(error, ServiceError):
            self._last_error = str(error)
        else:
            self._last_error = "internal error; the log of the embedder tells more"
