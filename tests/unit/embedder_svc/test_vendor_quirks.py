"""Limits and refusals that broke other systems, each against a server that has them."""

from __future__ import annotations

import numpy as np
import pytest

from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.vendor_errors import VendorRefused
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.batch_call import HARMLESS_TEXT
from embedder_svc.providers.mistral import MODELS as MISTRAL_MODELS
from embedder_svc.providers.mistral import mistral_provider
from embedder_svc.providers.ollama import MODELS as OLLAMA_MODELS
from embedder_svc.providers.ollama import ollama_provider
from embedder_svc.providers.openai_compatible import MODELS as OPENAI_MODELS
from embedder_svc.providers.openai_compatible import (
    openai_compatible_provider,
    other_model,
    shortened,
)
from embedder_svc.providers.voyage import MODELS as VOYAGE_MODELS
from embedder_svc.providers.voyage import voyage_provider
from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import provider_of, vector_of
from tests.fakes.vendors.mistral_server import MistralServer
from tests.fakes.vendors.ollama_server import OllamaServer
from tests.fakes.vendors.openai_servers import OpenAiServer, TeiServer
from tests.fakes.vendors.voyage_server import VoyageServer

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
MISTRAL, VOYAGE = MISTRAL_MODELS["mistral-embed"], VOYAGE_MODELS["voyage-3-lite"]
NOMIC, SMALL = OLLAMA_MODELS["nomic-embed-text"], OPENAI_MODELS["text-embedding-3-small"]


def assert_rows(vectors: np.ndarray, texts: list[str]) -> None:
    """Each row must be the vector of its own text."""
    for row, text in zip(vectors, texts, strict=True):
        np.testing.assert_allclose(row, vector_of(text, vectors.shape[1]), atol=1e-6)


async def test_mistral_takes_512_inputs_a_request() -> None:
    """600 short texts become two requests, none of them refused."""
    server = MistralServer()
    texts = [f"texte {number}" for number in range(600)]
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        batch = await provider.embed(texts, DOCUMENT, None)

    assert_rows(batch.vectors, texts)
    assert [len(sent) for sent in server.embedded] == [512, 88]


async def test_code_3210_is_halved_and_learnt() -> None:
    """A server that counts more tokens than estimated gets smaller requests, now and later."""
    server = MistralServer(tokens_per_character=0.8)
    texts = [" ".join([f"mot{number}"] * 150) for number in range(40)]
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        batch = await provider.embed(texts, DOCUMENT, None)
        first = len(server.bodies)
        await provider.embed([f"{text}." for text in texts], DOCUMENT, None)

    assert_rows(batch.vectors, texts)
    accepted = [sum(map(server.tokens, sent)) <= server.max_tokens for sent in server.embedded]
    assert not accepted[0]
    assert all(accepted[first:])
    assert not any(text.sliced or text.failure for text in batch.texts)


@pytest.mark.parametrize("status", [413, 422])
@pytest.mark.parametrize("plain", [False, True], ids=["json", "plain"])
async def test_a_smaller_batch_cap_is_learnt(status: int, plain: bool) -> None:
    """A server with room for 10 texts refuses twice and then never again."""
    server = TeiServer(max_texts=10, refusal_status=status)
    if plain:
        server.refuse = lambda texts, counts: _refuse_plainly(server, texts, status)  # type: ignore[method-assign]
    texts = [f"texte {number}" for number in range(64)]
    model = other_model("e5", 384)
    async with provider_of(server, openai_compatible_provider, model, path="/v1") as provider:
        batch = await provider.embed(texts[:32], DOCUMENT, None)
        first = len(server.bodies)
        again = await provider.embed(texts[32:], DOCUMENT, None)

    assert_rows(np.concatenate([batch.vectors, again.vectors]), texts)
    assert max(len(sent) for sent in server.embedded[first:]) <= 10
    assert first <= 6


def _refuse_plainly(server: TeiServer, texts: list[str], status: int) -> None:
    if len(texts) > server.max_texts:
        raise RefusedError(status, "length limit exceeded")


async def test_a_server_is_asked_for_its_limits() -> None:
    """What TEI tells at `/info` is kept to from the first request on."""
    server = TeiServer(max_texts=7, tells_limits=True)
    texts = [f"texte {number}" for number in range(20)]
    model = other_model("e5", 384)
    async with provider_of(server, openai_compatible_provider, model, path="/v1") as provider:
        await provider.check()
        batch = await provider.embed(texts, DOCUMENT, None)

    assert_rows(batch.vectors, texts)
    assert [len(sent) for sent in server.embedded] == [7, 7, 6]


async def test_a_voyage_batch_above_its_token_cap_is_split_not_repeated() -> None:
    """Three texts of 6 tokens with a cap of 10: each alone, and the refused body only once."""
    server = VoyageServer(max_tokens=10, tokens_per_character=1.0)
    texts = ["abcdef", "ghijkl", "mnopqr"]
    async with provider_of(server, voyage_provider, VOYAGE, path="/v1") as provider:
        batch = await provider.embed(texts, DOCUMENT, None)

    assert_rows(batch.vectors, [f"document: {text}" for text in texts])
    assert server.embedded == [texts, texts[:2], *([text] for text in texts)]


async def test_a_text_with_more_tokens_than_estimated_is_cut_in_two() -> None:
    """A server that counts a token a character refuses it whole; the parts are averaged."""
    server = OllamaServer(tokens_per_character=1.0)
    text = " ".join(f"mot{number}" for number in range(500))
    async with provider_of(server, ollama_provider, NOMIC) as provider:
        batch = await provider.embed([text, "court"], DOCUMENT, None)

    assert [outcome.sliced for outcome in batch.texts] == [True, False]
    assert [outcome.failure for outcome in batch.texts] == ["", ""]
    assert max(server.tokens(t) for sent in server.embedded[-3:] for t in sent) <= 2048


@pytest.mark.parametrize("place", [0, 4, 9])
async def test_one_long_text_does_not_make_later_requests_small(place: int) -> None:
    """Where the vendor refuses a batch for its sake, nothing is learnt of how many texts fit."""
    server = MistralServer(max_input_tokens=100)
    texts = [f"texte {number}" for number in range(10)]
    texts[place] = " ".join(f"mot{number}" for number in range(100))
    later = [f"autre texte {number}" for number in range(10)]
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        batch = await provider.embed(texts, DOCUMENT, None)
        before = len(server.bodies)
        await provider.embed(later, DOCUMENT, None)

    assert [at for at, text in enumerate(batch.texts) if text.sliced] == [place]
    assert server.embedded[before:] == [later]


async def test_a_silent_cut_is_noticed() -> None:
    """A count at the model's limit gives it away, so the end of the text counts too."""
    server = OllamaServer(tokens_per_character=0.5, ignores_truncate=True)
    start = "mot " * 1300
    async with provider_of(server, ollama_provider, NOMIC) as provider:
        batch = await provider.embed([start + "fin"], DOCUMENT, None)
        other = await provider.embed([start + "autre"], DOCUMENT, None)

    assert batch.texts[0].sliced
    assert not np.allclose(batch.vectors, other.vectors, atol=1e-3)


async def test_texts_of_3000_words_are_sliced_whole() -> None:
    """The last word reaches the server, and the answer says that the text was sliced."""
    server = OllamaServer()
    text = "mot " * 3000 + "dernier"
    async with provider_of(server, ollama_provider, NOMIC) as provider:
        batch = await provider.embed([text], DOCUMENT, None)

    assert batch.texts[0].sliced
    assert any(sent[-1].endswith("dernier") for sent in server.embedded)


@pytest.mark.parametrize("status", [400, 500])
async def test_a_text_that_makes_nan_is_isolated(status: int) -> None:
    """Both of Ollama's answers to it mean the text, not the server, which is proved but once."""
    server = OllamaServer(poison=frozenset({"NaN-Text"}), nan_status=status)
    breaker = CircuitBreaker("ollama", threshold=1)
    texts = ["un", "NaN-Text", "trois", "quatre"]
    async with provider_of(server, ollama_provider, NOMIC, breaker=breaker) as provider:
        batch = await provider.embed(texts, DOCUMENT, None)

    assert [bool(text.failure) for text in batch.texts] == [False, True, False, False]
    assert breaker.state is BreakerState.CLOSED
    assert server.embedded.count([NOMIC.prefixes.document + HARMLESS_TEXT]) == 1


async def test_a_used_up_quota_is_no_rate_limit() -> None:
    """The same status 429, but nothing is gained by waiting."""
    error = {"error": {"message": "You exceeded", "code": "insufficient_quota"}}
    server = OpenAiServer(failures=[RefusedError(429, error)] * 3)
    async with provider_of(server, openai_compatible_provider, SMALL, path="/v1") as provider:
        with pytest.raises(VendorRefused, match="no quota"):
            await provider.embed(["un"], QUERY, None)

    assert len(server.bodies) == 1


async def test_shorter_vectors_are_asked_for_where_the_model_can() -> None:
    """`dimensions` is sent only then, and the answer is held to it."""
    server = OpenAiServer()
    model = shortened(SMALL, 256)
    async with provider_of(server, openai_compatible_provider, model, path="/v1") as provider:
        batch = await provider.embed(["un"], QUERY, None)

    assert server.bodies[0]["dimensions"] == 256
    assert batch.vectors.shape == (1, 256)
