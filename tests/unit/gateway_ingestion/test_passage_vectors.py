"""The passages of a document get vectors of one space, and only those that lack them."""

import numpy as np
import pytest

from gateway.documents import Passage
from gateway.embedding import EmbeddingPurpose
from gateway.ingestion.chunking.chunker import CutPassage
from gateway.ingestion.embedding_calls import BatchLimits, EmbeddingCalls
from gateway.ingestion.passage_vectors import NewVectors, PassageVectors
from tests.fakes.chained_embedder import FIRST, SECOND, ChainedEmbedder


def passages_of(*texts: str, tokens: int = 10) -> list[CutPassage]:
    """Passages whose fingerprint is their text."""
    return [
        CutPassage(Passage(index, text, token_estimate=tokens, embedded_text_hash=text), text, 0, 0)
        for index, text in enumerate(texts)
    ]


def positions(new: NewVectors) -> tuple[int, ...] | None:
    """The passages that new vectors belong to."""
    return new.block.passage_positions if new.block is not None else None


def vectors(embedder: ChainedEmbedder, limits: BatchLimits | None = None) -> PassageVectors:
    """What is tested, over an embedder."""
    return PassageVectors(EmbeddingCalls(embedder, limits))


@pytest.fixture
def embedder() -> ChainedEmbedder:
    """Two providers that work."""
    return ChainedEmbedder()


async def test_only_passages_without_a_vector_are_embedded(embedder: ChainedEmbedder) -> None:
    """A vector of another space does not count; rows name their passages."""
    stored = {"a": frozenset({FIRST}), "c": frozenset({SECOND})}

    new = await vectors(embedder).of(passages_of("a", "bb", "c"), stored, FIRST, "w")

    assert embedder.calls == [(("bb", "c"), FIRST)]
    assert embedder.purposes == {EmbeddingPurpose.DOCUMENT}
    assert new.space_id == FIRST
    assert positions(new) == (1, 2)
    assert new.block is not None
    assert new.block.vectors.dtype == np.float32
    np.testing.assert_allclose(new.block.vectors[0, :2], [np.cos(2), np.sin(2)], rtol=1e-6)
    assert new.waiting_count == 0


async def test_nothing_is_sent_where_nothing_lacks(embedder: ChainedEmbedder) -> None:
    """A document whose passages are all known costs no call."""
    new = await vectors(embedder).of(passages_of("a"), {"a": frozenset({FIRST})}, FIRST, "w")

    assert embedder.calls == []
    assert new == NewVectors()


async def test_equal_texts_are_embedded_once(embedder: ChainedEmbedder) -> None:
    """Both passages get the vector."""
    new = await vectors(embedder).of(passages_of("a", "b", "a"), {}, FIRST, "w")

    assert embedder.embedded() == ["a", "b"]
    assert positions(new) == (0, 1, 2)


async def test_texts_are_sent_in_bounded_batches(embedder: ChainedEmbedder) -> None:
    """Neither number, nor tokens, nor calls at a time pass their limits."""
    limits = BatchLimits(texts=4, tokens=100, calls=2)
    texts = [f"t{n}" for n in range(25)]

    await vectors(embedder, limits).of(passages_of(*texts, tokens=30), {}, FIRST, "w")

    assert sorted(embedder.embedded()) == sorted(texts)
    assert max(len(sent) for sent, _ in embedder.calls) == 3
    assert embedder.most_at_once == 2


async def test_without_a_preferred_space_the_chain_decides_once(embedder: ChainedEmbedder) -> None:
    """The first answer names the space that all other batches ask for."""
    limits = BatchLimits(texts=2)

    new = await vectors(embedder, limits).of(passages_of("a", "b", "c", "d"), {}, "", "w")

    assert [space for _, space in embedder.calls] == [None, FIRST]
    assert new.space_id == FIRST
    assert positions(new) == (0, 1, 2, 3)


@pytest.mark.parametrize("preferred", [FIRST, "gone/model@1/4/l2/none"])
async def test_a_lost_preferred_space_moves_the_whole_document(
    embedder: ChainedEmbedder, preferred: str
) -> None:
    """Also passages with a vector in the lost space are embedded anew: a document never mixes."""
    embedder.lost = {FIRST}
    stored = {"a": frozenset({preferred})}

    new = await vectors(embedder).of(passages_of("a", "b"), stored, preferred, "w")

    assert new.space_id == SECOND
    assert positions(new) == (0, 1)
    assert new.waiting_count == 0
    assert new.failure == ""


async def test_a_space_lost_half_way_moves_the_whole_document(embedder: ChainedEmbedder) -> None:
    """What the first space had answered is not put beside the second's vectors."""
    embedder.lasts = {FIRST: 2}
    limits = BatchLimits(texts=1, calls=1)

    new = await vectors(embedder, limits).of(passages_of("a", "b", "c"), {}, FIRST, "w")

    assert new.space_id == SECOND
    assert positions(new) == (0, 1, 2)
    assert new.block is not None
    assert new.block.vectors.shape == (3, 6)


async def test_without_any_provider_all_passages_wait(embedder: ChainedEmbedder) -> None:
    """No vectors, the number that waits, and why."""
    embedder.lost = {FIRST, SECOND}

    new = await vectors(embedder).of(passages_of("a", "b"), {}, FIRST, "w")

    assert new == NewVectors(waiting_count=2, failure="no provider answers")


async def test_what_was_embedded_before_the_loss_is_kept(embedder: ChainedEmbedder) -> None:
    """The other passages wait; all vectors are of one space."""
    embedder.spaces = (FIRST,)
    embedder.lasts = {FIRST: 2}
    limits = BatchLimits(texts=1, calls=1)

    new = await vectors(embedder, limits).of(passages_of("a", "b", "c"), {}, FIRST, "w")

    assert new.space_id == FIRST
    assert positions(new) == (0, 1)
    assert new.waiting_count == 1
    assert new.failure


async def test_sliced_passages_are_named(embedder: ChainedEmbedder) -> None:
    """Texts over the model's input are no secret."""
    embedder.sliced_over = 2

    new = await vectors(embedder).of(passages_of("a", "long", "long"), {}, FIRST, "w")

    assert new.sliced == (1, 2)
    assert new.block is not None
    assert new.block.sliced_rows == {1, 2}


async def test_a_refused_passage_waits_alone(embedder: ChainedEmbedder) -> None:
    """It is named, costs one call, and moves nothing to another space."""
    embedder.refused = {"poison"}

    new = await vectors(embedder).of(passages_of("a", "poison", "b", "poison"), {}, FIRST, "w")

    assert embedder.calls == [(("a", "poison", "b"), FIRST)]
    assert new.space_id == FIRST
    assert positions(new) == (0, 2)
    assert new.waiting_count == 2
    assert new.refused == {1: "poison cannot be embedded", 3: "poison cannot be embedded"}
    assert new.failure == ""


async def test_a_refused_passage_is_not_sent_twice_where_the_chain_decides(
    embedder: ChainedEmbedder,
) -> None:
    """The first answer names the space and the refusal."""
    embedder.refused = {"poison"}

    new = await vectors(embedder).of(passages_of("poison", "a"), {}, "", "w")

    assert embedder.embedded() == ["poison", "a"]
    assert new.space_id == FIRST
    assert positions(new) == (1,)
    assert list(new.refused) == [0]


async def test_a_document_of_refused_passages_has_no_block(embedder: ChainedEmbedder) -> None:
    """No row of zeros is ever stored."""
    embedder.refused = {"poison"}

    new = await vectors(embedder).of(passages_of("poison"), {}, FIRST, "w")

    assert new == NewVectors(waiting_count=1, refused={0: "poison cannot be embedded"})


async def test_refusals_and_losses_are_told_apart(embedder: ChainedEmbedder) -> None:
    """One passage is refused, another never reached the model."""
    embedder.spaces = (FIRST,)
    embedder.refused = {"poison"}
    embedder.lasts = {FIRST: 1}
    limits = BatchLimits(texts=1, calls=1)

    new = await vectors(embedder, limits).of(passages_of("poison", "b"), {}, FIRST, "w")

    assert new.waiting_count == 2
    assert list(new.refused) == [0]
    assert new.failure == "no provider answers"
