"""How many tokens a character makes, by the provider that embeds a workspace's passages."""

from __future__ import annotations

from contextlib import suppress

from chassis.errors import ServiceError
from gateway.embedding import Provider, ProviderState
from gateway.ingestion.chunking.measures import (
    DEFAULT_TOKENS_PER_CHARACTER,
    Measure,
    token_measure,
)
from gateway.ports import Embedder

_TIMEOUT_S = 5.0


class TokenRates:
    """Asks the embedder, and remembers the last answer for as long as it is lost.

    A rate that changed with every outage would cut a document in other places, and so cost it the
    vectors of passages that did not change.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._providers: tuple[Provider, ...] = ()

    async def measure(self, space_id: str) -> Measure:
        """Returns the token measure of a space; of the first usable provider if it is empty."""
        # A lost embedder is told of when embedding fails; cutting does not need it.
        with suppress(ServiceError):
            self._providers = await self._embedder.describe_providers(timeout=_TIMEOUT_S)
        return token_measure(self._rate(space_id))

    def _rate(self, space_id: str) -> float:
        usable = [p for p in self._providers if p.state is not ProviderState.NOT_CONFIGURED]
        # Stable: the provider of the space first, then the others in chain order.
        usable.sort(key=lambda provider: provider.space_id != space_id)
        return next(
            (p.tokens_per_character for p in usable if p.tokens_per_character > 0),
            DEFAULT_TOKENS_PER_CHARACTER,
        )
