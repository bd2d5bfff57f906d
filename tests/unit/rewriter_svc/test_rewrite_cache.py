"""What is remembered, for how long, and for whom."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriter_svc.rewrite_cache import ModelRewrite, RewriteCache, cache_key
from rewriter_svc.rewriting import (
    ConversationRole,
    ConversationTurn,
    GlossaryEntry,
    RewriteRequest,
)
from tests.fakes.clock import FakeClock

REQUEST = RewriteRequest(
    "acme",
    "prix du gaz",
    "fr",
    (ConversationTurn(ConversationRole.USER, "bonjour"),),
    (GlossaryEntry("BL", ("bon de livraison",)),),
    3,
)
REWRITE = ModelRewrite("mistral", "small", "prix gaz tarif", "prix du gaz")


def key_of(request: RewriteRequest, prompt: str = "1", models: str = "mistral/small") -> bytes:
    """Returns the key of a request."""
    return cache_key(request, prompt_version=prompt, models=models)


async def test_an_entry_is_forgotten_in_time() -> None:
    """After 5 minutes of the monotonic clock, whatever has been asked meanwhile."""
    clock = FakeClock()
    cache = RewriteCache(200, 300.0, clock)
    cache.put(b"key", REWRITE)

    clock.now += 299.0
    assert cache.get(b"key") == REWRITE
    clock.now += 1.0
    assert cache.get(b"key") is None


def test_only_so_many_are_kept() -> None:
    """200 of them; the others go, not the memory."""
    cache = RewriteCache(200, 300.0, FakeClock())
    for number in range(1000):
        cache.put(str(number).encode(), REWRITE)

    assert len(cache) == 200
    assert cache.get(b"999") == REWRITE


def test_a_cache_without_room_keeps_nothing() -> None:
    """Zero entries switch it off."""
    cache = RewriteCache(0, 300.0)
    cache.put(b"key", REWRITE)

    assert cache.get(b"key") is None


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, workspace="other"),
        replace(REQUEST, query="prix du gaz naturel"),
        replace(REQUEST, query="Prix du gaz"),
        replace(REQUEST, language="en"),
        replace(REQUEST, history=()),
        replace(REQUEST, history=(ConversationTurn(ConversationRole.ASSISTANT, "bonjour"),)),
        replace(REQUEST, history=(ConversationTurn(ConversationRole.USER, "bonsoir"),)),
        replace(REQUEST, glossary=()),
        replace(REQUEST, glossary=(GlossaryEntry("BL", ("bon", "de livraison")),)),
        replace(REQUEST, glossary_version=4),
    ],
)
def test_whatever_changes_the_answer_changes_the_key(other: RewriteRequest) -> None:
    """No workspace ever sees an answer of another one."""
    assert key_of(other) != key_of(REQUEST)


def test_another_prompt_or_model_is_another_key() -> None:
    """What the old ones wrote is not used any more."""
    keys = {key_of(REQUEST), key_of(REQUEST, prompt="2"), key_of(REQUEST, models="openai/x")}

    assert len(keys) == 3


def test_blanks_around_a_query_are_no_difference() -> None:
    """They are none to the model."""
    assert key_of(replace(REQUEST, query="  prix du gaz\n")) == key_of(REQUEST)


TEXTS = st.text(alphabet="ab/\x00", max_size=3)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_texts_cannot_run_into_each_other(
    workspace: str, term: str, other_workspace: str, other_term: str
) -> None:
    """Equal keys mean equal requests, wherever the borders between texts lie."""
    one = RewriteRequest(workspace, f"{term}q", "", glossary=(GlossaryEntry(term),))
    two = RewriteRequest(
        other_workspace, f"{other_term}q", "", glossary=(GlossaryEntry(other_term),)
    )

    assert (key_of(one) == key_of(two)) == (one == two)


def test_a_word_that_moves_from_one_text_to_the_next_is_another_request() -> None:
    """From the workspace into the query, or from a term into its synonym."""
    pairs = [
        (RewriteRequest("ab", "c"), RewriteRequest("a", "bc")),
        (
            RewriteRequest("a", "q", glossary=(GlossaryEntry("b", ("1", "c")),)),
            RewriteRequest("a", "q", glossary=(GlossaryEntry("b", ("1c", "")),)),
        ),
    ]
    for one, two in pairs:
        assert key_of(one) != key_of(two)
