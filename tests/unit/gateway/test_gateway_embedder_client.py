"""The embedder over sockets, and what its errors become."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.errors import DeadlineExceeded, FailedPrecondition, Internal, Unavailable
from chassis.metrics import Metrics
from gateway.clients.embedder import EmbedderClient
from gateway.documents import FloatMatrix
from gateway.embedding import EmbeddingPurpose, ProviderState
from gateway.receipt import StageOutcome, StageReport
from justesse.embedder.v1 import embedder_pb2
from tests.fakes.gateway_services.downstream import downstream

EMBED = "justesse.embedder.v1.EmbedderService.EmbedTexts"
DESCRIBE = "justesse.embedder.v1.EmbedderService.DescribeProviders"

VECTORS: FloatMatrix = np.array([[0.6, 0.8], [1.0, 0.0]], dtype=np.float32)


def embedded(**changes: Any) -> embedder_pb2.EmbedTextsResponse:
    """Returns a sound answer for two texts, with some fields changed."""
    fields: dict[str, Any] = {
        "space_id": "s",
        "dimension": 2,
        "vectors": VECTORS.tobytes(),
        "texts": [
            embedder_pb2.EmbeddedText(token_count=5),
            embedder_pb2.EmbeddedText(token_count=700, token_count_estimated=True, sliced=True),
        ],
        "report": embedder_pb2.StageReport(
            outcome=embedder_pb2.STAGE_OUTCOME_RAN,
            provider="mistral",
            model="embed",
            latency_ms=12.5,
            input_token_count=705,
            cost=0.25,
            currency="EUR",
        ),
    }
    return embedder_pb2.EmbedTextsResponse(**fields | changes)


async def test_texts_are_embedded() -> None:
    """Request, vectors, token counts and report cross the wire."""
    async with downstream({EMBED: lambda _: embedded()}) as service:
        answer = await EmbedderClient(service.channel).embed(
            ["un", "deux"], EmbeddingPurpose.DOCUMENT, "s", "negoce"
        )

    assert service.seen == [
        embedder_pb2.EmbedTextsRequest(
            texts=["un", "deux"],
            purpose=embedder_pb2.EMBEDDING_PURPOSE_DOCUMENT,
            space_id="s",
            workspace="negoce",
        )
    ]
    np.testing.assert_array_equal(answer.vectors, VECTORS)
    assert [(text.token_count, text.sliced) for text in answer.texts] == [(5, False), (700, True)]
    assert answer.report == StageReport(
        "embed",
        StageOutcome.RAN,
        provider="mistral",
        model="embed",
        latency_ms=12.5,
        input_token_count=705,
        cost=0.25,
        currency="EUR",
    )


async def test_without_a_space_the_provider_decides() -> None:
    """A space that was not asked for is not sent, and the answer's is taken."""
    async with downstream({EMBED: lambda _: embedded(space_id="chosen")}) as service:
        answer = await EmbedderClient(service.channel).embed(["a", "b"], EmbeddingPurpose.QUERY)

    assert answer.space_id == "chosen"
    assert not service.seen[0].HasField("space_id")


async def test_a_text_that_cannot_be_embedded_is_named() -> None:
    """Where the caller accepts that; its row holds zeros."""
    rows = np.array([[0, 0], [1, 0]], dtype=np.float32)
    texts = [embedder_pb2.EmbeddedText(failure="too odd"), embedder_pb2.EmbeddedText()]
    answer = embedded(vectors=rows.tobytes(), texts=texts)
    async with downstream({EMBED: lambda _: answer}) as service:
        client = EmbedderClient(service.channel)
        found = await client.embed(["a", "b"], EmbeddingPurpose.DOCUMENT, accept_failures=True)

    assert service.seen[0].accept_failures
    assert [text.failure for text in found.texts] == ["too odd", ""]


@pytest.mark.parametrize(
    "changes",
    [
        {"space_id": "another"},
        {"dimension": 0, "vectors": b""},
        {"dimension": 3},
        {"vectors": VECTORS[:1].tobytes()},
        {"vectors": VECTORS.tobytes() + b"\x00"},
        {"vectors": np.array([[np.nan, 1], [0, 1]], dtype=np.float32).tobytes()},
    ],
    ids=["other space", "no width", "other width", "row missing", "torn", "not finite"],
)
async def test_an_embedder_that_breaks_its_contract_is_an_error(changes: dict[str, Any]) -> None:
    """No vector of such an answer is used."""
    async with downstream({EMBED: lambda _: embedded(**changes)}) as service:
        with pytest.raises(Internal) as broken:
            await EmbedderClient(service.channel).embed(["a", "b"], EmbeddingPurpose.QUERY, "s")

    assert broken.value.reason == "EMBEDDER_ANSWER_BROKEN"


async def test_providers_are_described() -> None:
    """State, space and the last failure cross the wire; what is unknown counts as unavailable."""
    response = embedder_pb2.DescribeProvidersResponse(
        providers=[
            embedder_pb2.Provider(
                name="mistral",
                model="embed",
                space_id="m",
                dimension=1024,
                input_limit_tokens=8192,
                state=embedder_pb2.PROVIDER_STATE_UNAVAILABLE,
                last_error="quota",
                last_latency_ms=7.5,
            ),
            embedder_pb2.Provider(name="voyage", state=embedder_pb2.PROVIDER_STATE_NOT_CONFIGURED),
            embedder_pb2.Provider(name="embedded", state=embedder_pb2.PROVIDER_STATE_AVAILABLE),
        ]
    )
    async with downstream({DESCRIBE: lambda _: response}) as service:
        first, second, third = await EmbedderClient(service.channel).describe_providers()

    assert (first.name, first.dimension, first.last_error) == ("mistral", 1024, "quota")
    assert (first.last_latency_ms, second.last_latency_ms) == (7.5, None)
    assert [each.state for each in (first, second, third)] == [
        ProviderState.UNAVAILABLE,
        ProviderState.NOT_CONFIGURED,
        ProviderState.AVAILABLE,
    ]


def fail_precondition(_: Any) -> Any:
    """Answers as a service that refuses in its own words."""
    raise FailedPrecondition("the space has drifted", reason="SPACE_DRIFTED")


async def test_errors_of_a_service_keep_class_words_and_reason() -> None:
    """What a service said is not translated."""
    async with downstream({EMBED: fail_precondition}) as service:
        with pytest.raises(FailedPrecondition, match="the space has drifted") as refused:
            await EmbedderClient(service.channel).embed(["a"], EmbeddingPurpose.QUERY)

    assert refused.value.reason == "SPACE_DRIFTED"


def be_unavailable(_: Any) -> Any:
    """Answers as an embedder whose providers are all lost."""
    raise Unavailable("no provider answered")


async def test_an_unavailable_provider_is_told_from_an_unreachable_service() -> None:
    """The embedder's own UNAVAILABLE keeps its words."""
    async with downstream({EMBED: be_unavailable}) as service:
        with pytest.raises(Unavailable, match="no provider answered"):
            await EmbedderClient(service.channel).embed(["a"], EmbeddingPurpose.QUERY)


async def test_an_unreachable_service_is_named_plainly() -> None:
    """No address, no transport words: the service and that it cannot be reached."""
    async with downstream({EMBED: lambda _: embedded()}) as service:
        address = service.address
    async with open_channel(address, metrics=Metrics()) as channel:
        with pytest.raises(Unavailable) as lost:
            await EmbedderClient(channel).embed(["a"], EmbeddingPurpose.QUERY, timeout=5.0)

    assert str(lost.value) == "the embedder cannot be reached"
    assert lost.value.reason == "EMBEDDER_UNREACHABLE"


async def never(_: Any) -> Any:
    """Never answers."""
    await asyncio.Event().wait()


async def test_a_late_service_is_named_plainly() -> None:
    """The time-out given is the call's."""
    async with downstream({EMBED: never}) as service:
        with pytest.raises(DeadlineExceeded, match="the embedder did not answer in time"):
            await EmbedderClient(service.channel).embed(["a"], EmbeddingPurpose.QUERY, timeout=0.05)
