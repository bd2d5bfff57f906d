"""A model that was exchanged behind a space's back is noticed, and its space takes no calls."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from chassis.circuit_breaker import CircuitBreaker
from chassis.errors import FailedPrecondition
from embedder_svc.canary import Canary
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import ChainLink, ProviderState
from embedder_svc.embedding import EmbeddingPurpose, Vectors
from embedder_svc.vector_cache import VectorCache
from tests.fakes.embedding_providers import DIMENSION, ScriptedProvider

QUERY = EmbeddingPurpose.QUERY


def turned(cosine: float) -> Vectors:
    """Returns a vector with this cosine to the first axis."""
    vector = np.zeros(DIMENSION)
    vector[:2] = cosine, np.sqrt(1 - cosine**2)
    return vector.astype(np.float32)


def link_of(provider: ScriptedProvider) -> ChainLink:
    """A link without a cache."""
    return ChainLink(provider, CircuitBreaker(provider.name))


@pytest.mark.parametrize(("cosine", "drifted"), [(0.9995, False), (0.9985, True), (-1.0, True)])
def test_a_cosine_below_0_999_is_another_model(cosine: float, drifted: bool) -> None:
    """Noise between calls is not."""
    canary = Canary(ScriptedProvider("first").space)
    canary.measured(turned(1.0))
    canary.measured(turned(cosine))

    assert canary.drifted is drifted


async def test_a_drifted_space_takes_no_calls_and_the_chain_goes_on() -> None:
    """Asked for, it is a FAILED_PRECONDITION; unasked, the next provider answers."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second")
    chain = ProviderChain((link_of(first), link_of(second)))
    assert await chain.links[0].check()
    first.canary = turned(0.5)[None, :]
    assert not await chain.links[0].check()

    with pytest.raises(FailedPrecondition, match=r"first/first-model@1.* has changed") as caught:
        await chain.embed(["un"], QUERY, space=first.space)
    embedding = await chain.embed(["un"], QUERY)

    assert caught.value.reason == "SPACE_DRIFTED"
    assert embedding.provider == "second"
    assert first.embedded == []
    described = chain.describe()[0]
    assert described.state is ProviderState.DRIFTED
    assert "another model" in described.last_error


async def test_a_drift_empties_the_cache_of_its_space() -> None:
    """What the other model made before it was noticed is not served when the old one is back."""
    provider = ScriptedProvider("first")
    link = ChainLink(
        provider, CircuitBreaker("first"), cache=VectorCache(max_bytes=10**6, ttl_s=60.0)
    )
    await link.check()
    await link.embed(["un"], QUERY, None)
    provider.canary = turned(0.5)[None, :]
    await link.check()
    provider.canary = turned(1.0)[None, :]
    await link.check()

    await link.embed(["un"], QUERY, None)

    assert provider.embedded == [("un",), ("un",)]


async def test_the_old_model_may_come_back() -> None:
    """The reference stays that of the first measurement."""
    provider = ScriptedProvider("first")
    link = link_of(provider)
    await link.check()
    provider.canary = turned(0.5)[None, :]
    await link.check()
    provider.canary = turned(1.0)[None, :]

    assert await link.check()
    assert (await link.embed(["un"], QUERY, None)).provider == "first"


async def test_a_kept_canary_tells_a_model_that_changed_between_two_processes() -> None:
    """It is measured on the spot if no check has done so; the right one passes.

    A refusal stays in the description, though checks pass: they know of this process only.
    """
    provider = ScriptedProvider("first")
    link = link_of(provider)

    with pytest.raises(FailedPrecondition, match="stored canary"):
        await link.embed(["un"], QUERY, None, kept_canary=turned(0.5))
    assert await link.check()
    told = link.describe().last_error
    await link.embed(["un"], QUERY, None, kept_canary=turned(0.9999))

    assert "stored canary" in told
    assert link.describe().last_error == ""
    assert provider.embedded == [("un",)]
    canary = link.describe().canary
    assert canary is not None
    assert np.array_equal(canary, turned(1.0))


async def test_a_canary_of_another_width_is_another_model() -> None:
    """No vector of it could be compared."""
    with pytest.raises(FailedPrecondition):
        await link_of(ScriptedProvider("first")).embed(
            ["un"], QUERY, None, kept_canary=np.ones(3, dtype=np.float32)
        )


async def test_kept_canaries_decide_which_provider_of_the_chain_answers() -> None:
    """One whose model is not that of the kept vectors is passed over, and told of."""
    refused: list[str] = []
    first, second = (
        ChainLink(
            ScriptedProvider(name),
            CircuitBreaker(name),
            on_drift=partial(refused.append, name),
        )
        for name in ("first", "second")
    )
    chain = ProviderChain((first, second))
    kept = {first.space.id: turned(0.5), second.space.id: turned(1.0)}

    embedding = await chain.embed(["un"], EmbeddingPurpose.DOCUMENT, kept_canaries=kept)
    with pytest.raises(FailedPrecondition):
        await chain.embed(["un"], QUERY, space=first.space, kept_canaries=kept)

    assert embedding.provider == "second"
    assert embedding.canary is not None
    assert np.array_equal(embedding.canary, turned(1.0))
    assert refused == ["first", "first"]
