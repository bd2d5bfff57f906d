"""What embedding costs, who pays, what is saved, and what is reported of single texts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import grpc
import grpc.aio
import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.cost_ledger import CostLedger
from chassis.deadline import Deadline
from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument, ResourceExhausted, ServiceError, Unavailable
from chassis.metrics import Metrics
from chassis.server import RunningServer
from embedder_svc.embedding import EmbeddedBatch, EmbeddedText, EmbeddingPurpose
from embedder_svc.price import Price
from embedder_svc.providers.protocol import EmbeddingProvider, UnconfiguredProvider
from embedder_svc.service import running_embedder
from embedder_svc.settings import EmbedderSettings
from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceStub
from tests.fakes.clock import FakeClock
from tests.fakes.embedding_providers import ScriptedProvider

if TYPE_CHECKING:
    from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceAsyncStub

DOLLAR_A_TOKEN = Price(1e6)


class PickyProvider(ScriptedProvider):
    """A provider that cannot embed "poison" and slices "lang"."""

    async def embed(
        self, texts: Sequence[str], purpose: EmbeddingPurpose, deadline: Deadline | None
    ) -> EmbeddedBatch:
        """Embeds the rest."""
        batch = await super().embed(texts, purpose, deadline)
        outcomes = {
            "poison": EmbeddedText(1, failure="first cannot embed this text"),
            "lang": EmbeddedText(900, sliced=True),
        }
        told = tuple(outcomes.get(text, batch.texts[at]) for at, text in enumerate(texts))
        vectors = batch.vectors.copy()
        vectors[[bool(text.failure) for text in told]] = 0
        return EmbeddedBatch(vectors, told)


@asynccontextmanager
async def embedder(
    *providers: EmbeddingProvider | UnconfiguredProvider,
    cap: float | None = None,
    replicas: int = 1,
) -> AsyncIterator[tuple[EmbedderServiceAsyncStub, RunningServer]]:
    """Runs an embedder on free ports and opens a channel to it."""
    settings = EmbedderSettings(port=0, drain_grace_s=0, daily_cost_cap=cap, replicas=replicas)
    async with (
        running_embedder(settings, providers=providers, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield EmbedderServiceStub(channel), server


async def error_of(stub: EmbedderServiceAsyncStub, request: pb.EmbedTextsRequest) -> ServiceError:
    """Returns the error that a request ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.EmbedTexts(request)
    return service_error_from(caught.value)


def asking(*texts: str, **options: object) -> pb.EmbedTextsRequest:
    """A request for these texts on behalf of `ventes`."""
    return pb.EmbedTextsRequest(texts=texts, workspace="ventes", **options)  # type: ignore[arg-type]


async def test_known_texts_cost_nothing_and_need_no_provider() -> None:
    """Only what is new is sent; the rest comes from the cache, also during an outage."""
    provider = ScriptedProvider("first")
    provider.price = DOLLAR_A_TOKEN
    async with embedder(provider) as (stub, server):
        first = await stub.EmbedTexts(asking("un", "deux"))
        second = await stub.EmbedTexts(asking("deux", "trois", "un"))
        provider.failures = [Unavailable("down")]
        third = await stub.EmbedTexts(asking("un"))
        samples = server.metrics.exposition().decode()

    assert provider.embedded == [("un", "deux"), ("trois",)]
    assert [text.cached for text in second.texts] == [True, False, True]
    assert (first.report.cost, second.report.cost, third.report.cost) == (2.0, 1.0, 0.0)
    assert first.report.currency == "USD"
    assert second.report.input_token_count == 1
    assert np.frombuffer(second.vectors, "<f4").reshape(3, -1).any(axis=1).all()
    assert 'embedder_cache_texts_total{outcome="hit"} 3.0' in samples
    assert 'embedder_cache_texts_total{outcome="miss"} 3.0' in samples
    labels = 'currency="USD",model="first-model",provider="first",workspace="ventes"'
    assert f"embedder_cost_total{{{labels}}} 3.0" in samples
    assert 'embedder_provider_available{provider="first"} 1.0' in samples


async def test_forgotten_texts_are_embedded_again() -> None:
    """The call says how many vectors were dropped; asking for nothing is a mistake."""
    provider = ScriptedProvider("first")
    async with embedder(provider) as (stub, _):
        await stub.EmbedTexts(asking("un", "deux"))
        forgotten = await stub.ForgetTexts(pb.ForgetTextsRequest(texts=["un", "nie"]))
        await stub.EmbedTexts(asking("un", "deux"))
        everything = await stub.ForgetTexts(pb.ForgetTextsRequest(everything=True))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.ForgetTexts(pb.ForgetTextsRequest())

    assert (forgotten.forgotten_count, everything.forgotten_count) == (1, 2)
    assert provider.embedded == [("un", "deux"), ("un",)]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_beyond_the_daily_cap_only_free_providers_embed() -> None:
    """The report says so; other workspaces are not concerned; the paid space is refused."""
    paid, free = ScriptedProvider("paid"), ScriptedProvider("freely")
    paid.price = DOLLAR_A_TOKEN
    async with embedder(paid, free, cap=2.0) as (stub, _):
        first = await stub.EmbedTexts(asking("un deux trois"))
        second = await stub.EmbedTexts(asking("quatre"))
        known = await stub.EmbedTexts(asking("un deux trois", space_id=first.space_id))
        refused = await error_of(stub, asking("cinq", space_id=first.space_id))
        other = await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["quatre"], workspace="achats"))

    assert (first.report.provider, second.report.provider) == ("paid", "freely")
    assert second.report.outcome == pb.STAGE_OUTCOME_DEGRADED
    assert second.report.reason == "DAILY_COST_CAP_REACHED"
    assert known.report.cost == 0.0
    assert isinstance(refused, ResourceExhausted)
    assert refused.reason == "DAILY_COST_CAP_REACHED"
    assert other.report.provider == "paid"


async def test_replicas_share_the_cap_of_a_day() -> None:
    """Two embedders may each spend half of it."""
    paid = ScriptedProvider("paid")
    paid.price = DOLLAR_A_TOKEN
    async with embedder(paid, cap=4.0, replicas=2) as (stub, _):
        await stub.EmbedTexts(asking("un deux"))
        refused = await error_of(stub, asking("trois"))

    assert refused.reason == "NO_PROVIDER_AVAILABLE"
    assert "daily cost cap" in str(refused)


def test_a_new_day_begins_a_new_count() -> None:
    """Days are those of UTC."""
    clock = FakeClock(start=86_400 * 20_000 - 1.0)
    ledger = CostLedger(1.0, clock)
    ledger.add("ventes", 1.0)
    assert not ledger.may_pay("ventes")
    assert ledger.may_pay("achats")
    clock.now += 1.0

    assert ledger.may_pay("ventes")
    assert CostLedger(None).may_pay("ventes")


async def test_texts_that_fail_are_named() -> None:
    """As an error, or beside the vectors of the others where the caller accepts that."""
    provider = PickyProvider("first")
    async with embedder(provider) as (stub, server):
        error = await error_of(stub, asking("un", "poison"))
        answer = await stub.EmbedTexts(asking("un", "poison", accept_failures=True))
        samples = server.metrics.exposition().decode()

    assert isinstance(error, InvalidArgument)
    assert (error.field or error.violations[0].field) == "texts[1]"
    assert error.reason == "TEXT_NOT_EMBEDDED"
    assert [text.failure for text in answer.texts] == ["", "first cannot embed this text"]
    vectors = np.frombuffer(answer.vectors, "<f4").reshape(2, -1)
    assert vectors[0].any()
    assert not vectors[1].any()
    assert 'embedder_failed_texts_total{model="first-model",provider="first"} 2.0' in samples


async def test_long_texts_are_refused_on_demand() -> None:
    """Otherwise they are sliced and flagged."""
    async with embedder(PickyProvider("first")) as (stub, _):
        answer = await stub.EmbedTexts(asking("un", "lang"))
        error = await error_of(stub, asking("un", "lang", refuse_long_texts=True))

    assert [text.sliced for text in answer.texts] == [False, True]
    assert isinstance(error, InvalidArgument)
    assert "900 tokens" in error.message


async def test_unconfigured_providers_are_described_and_never_called() -> None:
    """They stand where the chain has them, with what they lack."""
    model = ScriptedProvider("mistral")
    lacking = UnconfiguredProvider(
        "mistral", "mistral-embed", model.space, model.limits, "MISTRAL_API_KEY is not set"
    )
    async with embedder(lacking, ScriptedProvider("second")) as (stub, _):
        answer = await stub.EmbedTexts(asking("un"))
        described = (await stub.DescribeProviders(pb.DescribeProvidersRequest())).providers

    assert answer.report.provider == "second"
    assert [provider.name for provider in described] == ["mistral", "second"]
    assert described[0].state == pb.PROVIDER_STATE_NOT_CONFIGURED
    assert described[0].last_error == "MISTRAL_API_KEY is not set"
    assert described[1].price_per_million_tokens == 0.0


async def test_a_kept_canary_is_compared_over_the_wire() -> None:
    """The vector that DescribeProviders gave passes; another is a FAILED_PRECONDITION."""
    provider = ScriptedProvider("first")
    async with embedder(provider) as (stub, _):
        await provider.checked.acquire()
        while True:
            [described] = (await stub.DescribeProviders(pb.DescribeProvidersRequest())).providers
            if described.HasField("canary_vector"):
                break
        kept = described.canary_vector
        space = described.space_id
        answer = await stub.EmbedTexts(asking("un", space_id=space, canary_vector=kept))
        other = np.roll(np.frombuffer(kept, "<f4"), 1).tobytes()
        drifted = await error_of(stub, asking("un", space_id=space, canary_vector=other))
        mistakes = [
            await error_of(stub, asking("un", canary_vector=kept)),
            await error_of(stub, asking("un", space_id=space, canary_vector=b"abc")),
        ]

    assert answer.space_id == space
    assert drifted.reason == "SPACE_DRIFTED"
    for mistake in mistakes:
        assert isinstance(mistake, InvalidArgument)
        assert mistake.violations[0].field == "canary_vector"


async def test_canaries_of_several_spaces_go_along() -> None:
    """The drifted provider is passed over and counted; documents bring a canary to keep."""
    first, second = ScriptedProvider("first"), ScriptedProvider("second")
    wrong = pb.KeptCanary(space_id=first.space.id, vector=np.ones(8, "<f4").tobytes())
    async with embedder(first, second) as (stub, server):
        answer = await stub.EmbedTexts(
            asking("un", purpose=pb.EMBEDDING_PURPOSE_DOCUMENT, kept_canaries=[wrong])
        )
        query = await stub.EmbedTexts(asking("un", kept_canaries=[wrong]))
        mistakes = [
            await error_of(stub, asking("un", kept_canaries=[wrong, wrong])),
            await error_of(
                stub, asking("un", kept_canaries=[pb.KeptCanary(space_id="s", vector=b"abc")])
            ),
        ]
        samples = server.metrics.exposition().decode()

    assert answer.report.provider == query.report.provider == "second"
    assert np.frombuffer(answer.canary_vector, "<f4").tolist() == second.canary[0].tolist()
    assert not query.HasField("canary_vector")
    assert 'embedder_drift_refusals_total{provider="first"} 2.0' in samples
    for mistake, field in zip(mistakes, ("kept_canaries", "kept_canaries[0].vector"), strict=True):
        assert isinstance(mistake, InvalidArgument)
        assert mistake.violations[0].field == field
