"""Tries the providers in their order, and never answers with another space than the asked one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import structlog

from chassis.deadline import Deadline
from chassis.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    NotFound,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)
from embedder_svc.chain_link import ChainLink, Embedding, ProviderDescription
from embedder_svc.embedding import EmbeddingPurpose, Vectors
from embedder_svc.spaces import VectorSpace

_log = structlog.get_logger("embedder_svc.chain")


# A hosted provider gets this share of the time that is left, where another one could answer next.
_SHARE = 0.6
_NOTHING_KEPT: Mapping[str, Vectors] = MappingProxyType({})


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
        may_pay: bool = True,
        kept_canaries: Mapping[str, Vectors] = _NOTHING_KEPT,
    ) -> Embedding:
        """Embeds with the provider of the space, or with the first that answers if none is asked.

        Raises NotFound if no provider of the chain serves the space, Unavailable if none of those
        that may answer does, DeadlineExceeded if the caller's time is over first; and, for an
        asked space, FailedPrecondition if its model has changed and ResourceExhausted if it has
        to be paid and that is not allowed. `kept_canaries` are compared by space id; without an
        asked space, a provider whose own differs is passed over.
        """
        failures: list[tuple[ChainLink, ServiceError]] = []
        serving = self._serving(space)
        for link in serving:
            if deadline is not None and deadline.expired:
                raise DeadlineExceeded("the deadline passed before a provider answered")
            try:
                embedding = await link.embed(
                    texts,
                    purpose,
                    _own_deadline(link, deadline, is_last=link is serving[-1]),
                    may_pay=may_pay,
                    kept_canary=kept_canaries.get(link.space.id),
                )
            except (Unavailable, ResourceExhausted, FailedPrecondition, DeadlineExceeded) as error:
                if isinstance(error, DeadlineExceeded) and link is serving[-1]:
                    raise
                _log.warning(
                    "provider failed", provider=link.name, reason=error.reason, error=str(error)
                )
                failures.append((link, error))
            else:
                capped = any(_is_cost_cap(error) for _, error in failures)
                return replace(embedding, cost_capped=capped)
        if space is not None and _is_final(failures[-1][1]):
            raise failures[-1][1]
        raise _none_answered(space, failures)

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


def _own_deadline(link: ChainLink, deadline: Deadline | None, *, is_last: bool) -> Deadline | None:
    if deadline is None or is_last or not link.is_hosted:
        return deadline
    return Deadline.after(deadline.share(_SHARE), deadline.clock)


def _is_cost_cap(error: ServiceError) -> bool:
    return error.reason == "DAILY_COST_CAP_REACHED"


def _is_final(error: ServiceError) -> bool:
    """Whether waiting will not help, as it would in an outage."""
    return isinstance(error, FailedPrecondition) or _is_cost_cap(error)


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
