"""Vectors are kept by space, purpose and text, within bounds, and forgotten on demand."""

from __future__ import annotations

import numpy as np

from embedder_svc.embedding import EmbeddedText, EmbeddingPurpose
from embedder_svc.spaces import VectorSpace
from embedder_svc.vector_cache import VectorCache
from tests.fakes.clock import FakeClock

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
ONE, OTHER = (VectorSpace("p", "m", revision, 4, "l2", "none") for revision in ("1", "2"))
VECTOR = np.array([1.0, 0, 0, 0], dtype=np.float32)


def cache_of(max_bytes: int = 10**6, ttl_s: float = 60.0) -> tuple[VectorCache, FakeClock]:
    """A cache and its clock."""
    clock = FakeClock()
    return VectorCache(max_bytes, ttl_s, clock), clock


def test_a_vector_is_found_only_where_it_was_kept() -> None:
    """Another space, purpose or text is another vector."""
    cache, _ = cache_of()
    cache.keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(3, sliced=True))

    found = cache.found(ONE, QUERY, "texte")

    assert found is not None
    assert np.array_equal(found.vector, VECTOR)
    assert found.text == EmbeddedText(3, sliced=True, cached=True)
    assert cache.found(OTHER, QUERY, "texte") is None
    assert cache.found(ONE, DOCUMENT, "texte") is None
    assert cache.found(ONE, QUERY, "Texte") is None


def test_the_bytes_are_bounded_and_the_least_used_goes_first() -> None:
    """Room for two: the one that was asked for stays."""
    cache, _ = cache_of(max_bytes=1300)
    for text in ("a", "b"):
        cache.keep(ONE, QUERY, text, VECTOR, EmbeddedText(1))
    assert cache.found(ONE, QUERY, "a") is not None
    cache.keep(ONE, QUERY, "c", VECTOR, EmbeddedText(1))

    assert cache.byte_count <= 1300
    assert cache.found(ONE, QUERY, "b") is None
    assert cache.found(ONE, QUERY, "a") is not None
    for _ in range(50):
        cache.keep(ONE, QUERY, "a", VECTOR, EmbeddedText(1))
    assert cache.found(ONE, QUERY, "c") is not None


def test_kept_vectors_cannot_be_changed_from_outside() -> None:
    """A caller's array is its own."""
    cache, _ = cache_of()
    mine = VECTOR.copy()
    cache.keep(ONE, QUERY, "texte", mine, EmbeddedText(1))
    mine[:] = 0

    found = cache.found(ONE, QUERY, "texte")
    assert found is not None
    assert found.vector[0] == 1.0
    assert not found.vector.flags.writeable


def test_old_and_failed_vectors_are_not_kept() -> None:
    """The time limit counts from when a vector was made."""
    cache, clock = cache_of(ttl_s=60.0)
    cache.keep(ONE, QUERY, "poison", VECTOR, EmbeddedText(1, failure="cannot be embedded"))
    cache.keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(1))
    clock.now += 60.0
    assert cache.found(ONE, QUERY, "texte") is not None
    clock.now += 0.1

    assert cache.found(ONE, QUERY, "texte") is None
    assert cache.found(ONE, QUERY, "poison") is None
    assert cache.byte_count == 0


def test_what_is_too_old_gives_its_bytes_back_unasked() -> None:
    """Younger vectors stay, whichever was used last."""
    cache, clock = cache_of()
    cache.keep(ONE, QUERY, "vieux", VECTOR, EmbeddedText(1))
    one = cache.byte_count
    clock.now += 30.0
    cache.keep(ONE, QUERY, "jeune", VECTOR, EmbeddedText(1))
    assert cache.found(ONE, QUERY, "vieux") is not None
    clock.now += 31.0

    assert cache.drop_expired() == 1
    assert cache.byte_count == one
    assert cache.found(ONE, QUERY, "jeune") is not None


def test_texts_are_forgotten_in_every_space_and_purpose() -> None:
    """And nothing else is."""
    cache, _ = cache_of()
    for space in (ONE, OTHER):
        for purpose in (QUERY, DOCUMENT):
            for text in ("geheim", "bekannt"):
                cache.keep(space, purpose, text, VECTOR, EmbeddedText(1))

    assert cache.forget(["geheim", "nie gesehen"]) == 4
    assert cache.found(ONE, QUERY, "geheim") is None
    assert cache.found(OTHER, DOCUMENT, "bekannt") is not None
    assert cache.forget(["geheim"]) == 0
    assert cache.forget_all() == 4
    assert cache.byte_count == 0


def test_no_bytes_means_no_cache() -> None:
    """Zero switches it off."""
    cache, _ = cache_of(max_bytes=0)
    cache.keep(ONE, QUERY, "texte", VECTOR, EmbeddedText(1))

    assert cache.found(ONE, QUERY, "texte") is None
