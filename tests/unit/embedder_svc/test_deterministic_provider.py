"""The test encoder: the same text is the same vector everywhere, similar texts are near."""

import os
import subprocess
import sys

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from embedder_svc.embedding import EmbeddingPurpose, unit_vectors
from embedder_svc.providers.deterministic import HashingModel, deterministic_provider

QUERY = EmbeddingPurpose.QUERY
DOCUMENT = EmbeddingPurpose.DOCUMENT


def vectors_of(*texts: str, dimension: int = 64) -> np.ndarray:
    """Encodes texts as the provider does."""
    model = HashingModel(dimension)
    rows = model.encode([model.cleaned(text) for text in texts], DOCUMENT)
    return unit_vectors(rows, len(texts), dimension)


def test_similar_texts_are_near_each_other() -> None:
    """A text that shares words is nearer than one that shares none, also across inflections."""
    question, near, inflected, far = vectors_of(
        "Quelle est la procédure en cas de retard de livraison ?",
        "Procédure à suivre pour un retard de livraison",
        "Procedures et retards de livraisons",
        "Le chat dort au soleil sur la terrasse",
    )

    assert question @ near > question @ far + 0.2
    assert question @ inflected > question @ far + 0.2


def test_case_and_accents_do_not_matter() -> None:
    """Texts that differ in case and accents only share their vector."""
    plain, decorated = vectors_of("procedure d'ete a noel", "PROCÉDURE d'été à Noël")

    assert np.array_equal(plain, decorated)


def test_another_process_gives_the_same_vectors() -> None:
    """Nothing depends on the hash seed of a process."""
    code = (
        "from embedder_svc.embedding import EmbeddingPurpose\n"
        "from embedder_svc.providers.deterministic import HashingModel\n"
        "rows = HashingModel(16).encode(['bonjour le monde'], EmbeddingPurpose.QUERY)\n"
        "print(rows.tobytes().hex())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert answers == {HashingModel(16).encode(["bonjour le monde"], QUERY).tobytes().hex()}


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip()))
@example("p5").via("its features cancel each other out at width 8")
@example("\u0301").via("nothing but an accent")
def test_every_text_has_a_direction(text: str) -> None:
    """No text, however odd, comes out as zero; both purposes agree."""
    model = HashingModel(8)
    cleaned = model.cleaned(text)

    query = model.encode([cleaned], QUERY)
    document = model.encode([cleaned], DOCUMENT)

    assert np.isfinite(query).all()
    assert query.any()
    assert np.array_equal(query, document)
    assert model.token_count(cleaned, QUERY) >= 1


def test_the_space_names_the_width() -> None:
    """Vectors of another width are another space."""
    assert HashingModel().space.id == "deterministic/ngram-hash@1/64/l2/none"
    assert HashingModel(32).space.id == "deterministic/ngram-hash@1/32/l2/none"


async def test_the_longest_accepted_text_is_not_sliced() -> None:
    """A text of 64 kB has fewer words than the encoder's limit, even one letter each."""
    provider = deterministic_provider(16)
    batch = await provider.embed(["a " * 32768, "é" * 32768], DOCUMENT, None)
    await provider.close()

    assert [text.sliced for text in batch.texts] == [False, False]
    assert [text.token_count for text in batch.texts] == [32768, 1]
    assert not any(text.token_count_estimated for text in batch.texts)
