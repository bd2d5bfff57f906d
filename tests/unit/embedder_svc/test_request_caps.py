"""How texts are laid into requests, and what is learnt of a vendor's limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedder_svc.hosted.batch_call import _shares
from embedder_svc.hosted.refusals import Refusal
from embedder_svc.hosted.request_caps import RequestCaps
from embedder_svc.providers.mistral import MODELS
from embedder_svc.providers.ollama import MODELS as OLLAMA_MODELS

MISTRAL = MODELS["mistral-embed"]


@settings(derandomize=True, max_examples=60)
@given(st.lists(st.integers(1, 400), max_size=60), st.integers(1, 20), st.integers(1, 500))
def test_requests_keep_order_and_caps(lengths: list[int], texts: int, tokens: int) -> None:
    """Nothing is lost or moved; only a single text may exceed the tokens."""
    caps = RequestCaps(replace(MISTRAL, request_texts=texts, request_tokens=tokens))
    wanted = ["x" * length for length in lengths]

    batches = list(caps.batches(wanted))

    assert [text for batch in batches for text in batch] == wanted
    for batch in batches:
        assert 1 <= len(batch) <= texts
        assert len(batch) == 1 or sum(map(caps.estimated_tokens, batch)) <= tokens


@settings(derandomize=True, max_examples=60)
@given(st.lists(st.integers(1, 5000), min_size=1, max_size=40), st.integers(0, 10**6))
def test_shares_of_a_count_add_up_to_it(estimates: list[int], token_count: int) -> None:
    """What is paid for is counted, no more and no less."""
    shares = _shares(estimates, token_count)

    assert sum(shares) == token_count
    assert min(shares) >= 0


def test_long_texts_travel_alone_where_a_cut_would_not_show_otherwise() -> None:
    """Short ones share a request, before and after."""
    caps = RequestCaps(OLLAMA_MODELS["nomic-embed-text"])
    long = "mot " * 900

    assert list(caps.batches(["a", "b", long, "c"])) == [["a", "b"], [long], ["c"]]


@pytest.mark.parametrize(
    ("refusal", "texts", "tokens"),
    [
        (Refusal.TOO_MANY_TEXTS, 2, MISTRAL.request_tokens),
        (Refusal.TOO_MANY_TOKENS, MISTRAL.request_texts, 8),
        (Refusal.TOO_LARGE, 2, 8),
    ],
)
def test_caps_fall_where_the_vendor_said_so(refusal: Refusal, texts: int, tokens: int) -> None:
    """And never rise again by a larger request that passed."""
    caps = RequestCaps(MISTRAL)
    caps.lower(refusal, ["x" * 10, "x" * 10])
    caps.lower(refusal, ["x" * 10] * 5)

    assert (caps.texts, caps.tokens) == (texts, tokens)


def test_the_rate_follows_what_the_vendor_counts() -> None:
    """Short requests say nothing; a text that was too long proves a minimum; extremes are cut."""
    caps = RequestCaps(MISTRAL)
    caps.saw_tokens(["x" * 10], 10)
    assert caps.tokens_per_character == MISTRAL.tokens_per_character
    for _ in range(40):
        caps.saw_tokens(["x" * 1000], 900)
    assert caps.tokens_per_character == pytest.approx(0.9, abs=0.01)
    caps.saw_too_long("x" * 6000)
    assert caps.tokens_per_character == pytest.approx(8000 / 6000)
    caps.saw_too_long("x" * 100)
    assert caps.tokens_per_character == 2.0
