"""Presets are data: each says what it is meant to say, and nothing else changes."""

from __future__ import annotations

from gateway.context.formats import ContextFormat
from gateway.filters import Threshold
from gateway.ingestion.chunking.profiles import PROFILES, Unit
from gateway.presets.presets import Preset, preset_named, presets

SPACE = "embedded/e5@1/384/unit/e5"


def test_there_are_five_presets() -> None:
    """In the order in which they are listed to callers; no name, or one of a later version, means
    the first."""
    assert list(presets()) == ["default", "commerce", "words", "sentences", "tutorial"]
    assert preset_named("") == preset_named("default") == Preset("default")
    assert preset_named("of tomorrow") == Preset("default")


def test_commerce_reranks_ten_of_lists_of_twenty() -> None:
    """20 + 20 candidates, fused by rank, ten of them read by a reranking model."""
    search = preset_named("commerce").search
    assert (search.candidate_count, search.rerank_candidate_count) == (20, 10)


def test_words_counts_in_words() -> None:
    """500 words with 100 repeated, eight numbered sources, long answers at 0.3."""
    words = preset_named("words")
    profile = PROFILES[words.chunking_profile]
    assert (profile.unit, profile.target, profile.overlap) == (Unit.WORDS, 500, 100)
    assert (words.search.limit, words.answer.passage_count) == (8, 8)
    assert words.context.style is ContextFormat.NUMBERED
    answer = words.answer
    assert (answer.temperature, answer.max_tokens_hosted, answer.max_tokens_ollama) == (
        0.3,
        4096,
        2048,
    )


def test_sentences_lets_the_week_that_is_looked_at_be_less_similar() -> None:
    """500 tokens with 50 repeated, the titled block, distances up to 0.75 there and 0.70 else."""
    sentences = preset_named("sentences")
    profile = PROFILES[sentences.chunking_profile]
    assert (profile.unit, profile.target, profile.overlap) == (Unit.TOKENS, 500, 50)
    assert sentences.context.style is ContextFormat.TITLED
    assert sentences.search.thresholds(SPACE) == (
        Threshold(SPACE, max_distance=0.75, context_field="week"),
        Threshold(SPACE, max_distance=0.70, context_field="week", context_differs=True),
    )


def test_tutorial_has_a_floor_and_four_headed_sources() -> None:
    """One model, 50 candidates of which 50 are reranked, four passages from 0.65 on, short answers
    at 0.1."""
    tutorial = preset_named("tutorial")
    search, answer = tutorial.search, tutorial.answer
    assert tutorial.embedding_model == "text-embedding-3-small"
    assert (search.limit, search.candidate_count, search.rerank_candidate_count) == (4, 50, 50)
    assert search.thresholds(SPACE) == (Threshold(SPACE, min_similarity=0.65),)
    assert search.thresholds("") == ()
    assert tutorial.context.style is ContextFormat.HEADED
    assert (answer.temperature, answer.passage_count) == (0.1, 4)
    assert answer.max_tokens_hosted == answer.max_tokens_ollama == 500
