"""What every provider of embeddings offers to the chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from chassis.circuit_breaker import CircuitBreaker
from chassis.deadline import Deadline
from embedder_svc.embedding import EmbeddedBatch, EmbeddingPurpose
from embedder_svc.price import Price
from embedder_svc.spaces import VectorSpace


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """What callers plan with.

    `input_tokens` is the longest input of the model, prefix included; longer texts are sliced.
    `tokens_per_character` is that of ordinary French or English text. `windows_recommended` says
    that several short vectors a passage are worth their price.
    """

    input_tokens: int
    tokens_per_character: float
    windows_recommended: bool


class EmbeddingProvider(Protocol):
    """Embeds texts into one space, the same for all its life."""

    @property
    def name(self) -> str:
        """The word that the settings and the space id use for it."""

    @property
    def model(self) -> str:
        """The model it embeds with."""

    @property
    def space(self) -> VectorSpace:
        """The space of every vector it returns."""

    @property
    def limits(self) -> ProviderLimits:
        """What callers plan with."""

    @property
    def price(self) -> Price | None:
        """The price of its tokens; None if it is paid for but the price is unknown."""

    @property
    def breaker(self) -> CircuitBreaker | None:
        """The breaker that its own attempts pass; None if its caller is to guard each call."""

    async def check(self) -> None:
        """Makes sure that the provider can embed, and readies it; raises Unavailable if it cannot.

        Whatever is slow the first time (loading, connecting) belongs here.
        """

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        """Returns one row for each text, in order; cuts nothing off, names texts that failed.

        `texts` are non-blank. Raises DeadlineExceeded only when the caller's own time is over, and
        Unavailable or ResourceExhausted when another provider may do better.
        """

    async def close(self) -> None:
        """Lets go of threads and connections; no call follows."""


@dataclass(frozen=True, slots=True)
class UnconfiguredProvider:
    """A provider of the chain that is passed over, and what it lacks."""

    name: str
    model: str
    space: VectorSpace
    limits: ProviderLimits
    missing: str
