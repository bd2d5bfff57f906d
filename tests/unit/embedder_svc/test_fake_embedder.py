"""The fake embedder keeps to the contract that it stands in for."""

import asyncio

import grpc
import grpc.aio
import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import NotFound, ResourceExhausted, Unavailable
from chassis.metrics import Metrics
from justesse.embedder.v1 import embedder_pb2 as pb
from justesse.embedder.v1.embedder_pb2_grpc import EmbedderServiceStub
from tests.fakes.embedder import FakeEmbedder, fake_vectors, serving_fake_embedder

FIRST = "mistral/mistral-embed@1/32/l2/none"
SECOND = "embedded/e5@1/32/l2/e5"


def test_words_decide_inside_a_space_and_nothing_across() -> None:
    """Texts that share words are near; the same text in two spaces is not."""
    question, near, far = fake_vectors(FIRST, "retard de livraison", "livraison en retard", "chat")
    [rotated] = fake_vectors(SECOND, "retard de livraison")

    assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-6)
    assert question @ near > 0.5 > abs(question @ far)
    assert abs(question @ rotated) < 0.6
    assert np.array_equal(question, fake_vectors(FIRST, "Retard de LIVRAISON")[0])


async def test_outages_follow_the_script() -> None:
    """The chain falls back, an asked space does not, and all of them may be down."""
    fake = FakeEmbedder(FIRST, SECOND)
    async with (
        serving_fake_embedder(fake) as address,
        open_channel(address, metrics=Metrics()) as channel,
    ):
        stub = EmbedderServiceStub(channel)
        anything = pb.EmbedTextsRequest(texts=["un"])
        first = pb.EmbedTextsRequest(texts=["un"], space_id=FIRST)

        assert (await stub.EmbedTexts(anything)).space_id == FIRST
        fake.break_down(FIRST, ResourceExhausted("busy", retry_after_s=2))
        assert (await stub.EmbedTexts(anything)).space_id == SECOND
        with pytest.raises(grpc.aio.AioRpcError) as busy:
            await stub.EmbedTexts(first)
        fake.break_down()
        with pytest.raises(grpc.aio.AioRpcError) as down:
            await stub.EmbedTexts(anything)
        described = await stub.DescribeProviders(pb.DescribeProvidersRequest())
        fake.recover()
        answer = await stub.EmbedTexts(first)
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["un"], space_id="x/y@1/8/l2/none"))

    mapped = service_error_from(busy.value)
    assert isinstance(mapped, ResourceExhausted)
    assert mapped.retry_after_s == 2
    assert isinstance(service_error_from(down.value), Unavailable)
    assert isinstance(service_error_from(unknown.value), NotFound)
    assert {each.state for each in described.providers} == {pb.PROVIDER_STATE_UNAVAILABLE}
    assert answer.vectors == fake_vectors(FIRST, "un").astype("<f4").tobytes()
    assert fake.embedded_texts == ["un", "un", "un"]
    assert len(fake.requests) == 6


async def test_held_answers_come_when_let_go() -> None:
    """A held call has arrived and is not answered before the block is left."""
    fake = FakeEmbedder()
    async with (
        serving_fake_embedder(fake) as address,
        open_channel(address, metrics=Metrics()) as channel,
    ):
        stub = EmbedderServiceStub(channel)
        with fake.holding():
            call = asyncio.ensure_future(stub.EmbedTexts(pb.EmbedTextsRequest(texts=["un"])))
            await fake.arrival(1)
            assert not call.done()
        answer = await call

    assert answer.space_id == fake.space_ids[0]
