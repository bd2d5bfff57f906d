"""Tries the providers in their order, and never answers with another space than the asked one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from chassis.deadline import Deadline
from chassis.errors import (
    DeadlineExceeded,
    NotFound,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)
from embedder_svc.chain_link import ChainLink, Embedding, ProviderDescription
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.spaces import VectorSpace

_log = structlog.get_logger("embedder_svc.chain")


@dataclass(frozen=True, slots=True)
class ProviderChain:
    """Providers in the order in which they are tried; each has a name and a space of its own."""

    links: tuple[ChainLink, ...]

    async def embed(
        self,
        texts: Sequence[str],
        purpose: EmbeddingPurpose,
        *,
        space: VectorSpace | None = None,
        deadline: Deadline | None = None,
    ) -> Embedding:
        """Embeds with the provider of the space, or with the first that answers if none is asked.

        Raises NotFound if no provider of the chain serves the space, Unavailable if none of those
        that may answer does, DeadlineExceeded if the caller's time is over first.
        """
        failures: list[tuple[ChainLink, ServiceError]] = []
        for link in self._serving(space):
            if deadline is not None and deadline.expired:
                raise DeadlineExceeded("the deadline passed before a provider answered")
            try:
                return await link.embed(texts, purpose, deadline)
            except (Unavailable, ResourceExhausted) as error:
                _log.warning(
                    "provider failed", provider=link.name, reason=error.reason, error=str(error)
                )
                failures.append((link, error))
        raise _none_answered(space, failures)

    async def check(self) -> bool:
        """Checks every provider; returns whether at least one can answer."""
        async with asyncio.TaskGroup() as group:
            checks = [group.create_task(link.check()) for link in self.links]
        return any(check.result() for check in checks)

    def describe(self) -> list[ProviderDescription]:
        """Describes the providers in chain order."""
        return [link.describe() for link in self.links]

    async def close(self) -> None:
        """Closes every provider."""
        for link in self.links:
            await link.close()

    def _serving(self, space: VectorSpace | None) -> Sequence[ChainLink]:
        if space is None:
            return self.links
        serving = [link for link in self.links if link.space == space]
        if not serving:
            raise NotFound(
                f"no configured provider serves the space {space.id}; "
                f"served: {', '.join(link.space.id for link in self.links)}",
                reason="SPACE_NOT_SERVED",
            )
        return serving


def _none_answered(
    space: VectorSpace | None, failures: Sequence[tuple[ChainLink, ServiceError]]
) -> Unavailable:
    told = "; ".join(f"{link.name}: {error}" for link, error in failures)
    pauses = [pause for _, error in failures if (pause := _pause(error)) is not None]
    retry_after_s = min(pauses, default=None)
    if space is None:
        return Unavailable(
            f"no embedding provider answered ({told})",
            reason="NO_PROVIDER_AVAILABLE",
            retry_after_s=retry_after_s,
        )
    return Unavailable(
        f"the provider of the space {space.id} did not answer ({told})",
        reason="SPACE_UNAVAILABLE",
        retry_after_s=retry_after_s,
    )


def _pause(error: ServiceError) -> float | None:
    if isinstance(error, (Unavailable, ResourceExhausted)):
        return error.retry_after_s
    return None
