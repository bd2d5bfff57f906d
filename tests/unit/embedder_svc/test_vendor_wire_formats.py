"""Each hosted provider against a server that speaks its vendor's wire format, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.errors import Unavailable
from chassis.vendor_errors import VendorRefused, VendorUnauthorized, VendorUnusable
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.model import HostedModel
from embedder_svc.providers import mistral, ollama, openai_compatible, voyage
from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import (
    KEY,
    Build,
    EmbeddingServer,
    provider_of,
    vector_of,
)
from tests.fakes.vendors.mistral_server import MistralServer
from tests.fakes.vendors.ollama_server import OllamaServer
from tests.fakes.vendors.openai_servers import OpenAiServer, TeiServer
from tests.fakes.vendors.voyage_server import VoyageServer

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
E5 = openai_compatible.other_model("intfloat/multilingual-e5-small", 384)
TEXTS = ("le prix du gaz", "the price of gas", "Öl", "le prix du gaz")


@dataclass(frozen=True)
class Vendor:
    """A server, how its provider is built, and what the server sees of a text."""

    server: type[EmbeddingServer]
    build: Build
    model: HostedModel
    path: str = "/v1"
    seen: str = "{text}"

    def expected(self, text: str, purpose: EmbeddingPurpose) -> np.ndarray:
        """Returns the vector that the server makes of a text."""
        return vector_of(self.seen.format(text=text, p=purpose.value), self.model.dimension)


VENDORS = {
    "mistral": Vendor(MistralServer, mistral.mistral_provider, mistral.MODELS["mistral-embed"]),
    "voyage": Vendor(
        VoyageServer, voyage.voyage_provider, voyage.MODELS["voyage-3-lite"], seen="{p}: {text}"
    ),
    "ollama": Vendor(
        OllamaServer,
        ollama.ollama_provider,
        ollama.MODELS["nomic-embed-text"],
        "",
        "search_{p}: {text}",
    ),
    "openai": Vendor(
        OpenAiServer,
        openai_compatible.openai_compatible_provider,
        openai_compatible.MODELS["text-embedding-3-small"],
    ),
    "tei": Vendor(TeiServer, openai_compatible.openai_compatible_provider, E5),
}


@pytest.fixture(params=list(VENDORS))
def vendor(request: pytest.FixtureRequest) -> Vendor:
    """Each vendor in turn."""
    return VENDORS[request.param]


@pytest.mark.parametrize("purpose", list(EmbeddingPurpose))
async def test_every_text_gets_its_own_vector(vendor: Vendor, purpose: EmbeddingPurpose) -> None:
    """In the order of the request, with norm 1 and the prefix or switch of the purpose."""
    server = vendor.server(vendor.model.dimension)
    async with provider_of(server, vendor.build, vendor.model, path=vendor.path) as provider:
        batch = await provider.embed(TEXTS, purpose, None)

    assert batch.vectors.dtype == np.float32
    assert batch.vectors.flags.c_contiguous
    for row, text in zip(batch.vectors, TEXTS, strict=True):
        np.testing.assert_allclose(row, vendor.expected(text, purpose), atol=1e-6)
    assert batch.token_count == sum(map(server.tokens, server.embedded[0]))
    assert all(text.token_count_estimated for text in batch.texts)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_bodies_hold_only_keys_that_the_vendor_knows(vendor: Vendor) -> None:
    """Some keys are refused by whoever does not know them."""
    server = vendor.server(vendor.model.dimension)
    async with provider_of(server, vendor.build, vendor.model, path=vendor.path) as provider:
        await provider.embed(["un"], QUERY, None)

    extras: dict[str, dict[str, Any]] = {
        "voyage-3-lite": {
            "input_type": "query",
            "truncation": False,
            "encoding_format": "base64",
        },
        "nomic-embed-text": {"truncate": False},
    }
    [body] = server.bodies
    assert body.pop("input") == ["search_query: un" if vendor.path == "" else "un"]
    assert body == {"model": vendor.model.name, **extras.get(vendor.model.name, {})}


async def test_one_poison_text_is_found_and_the_others_succeed(vendor: Vendor) -> None:
    """Whichever it is; its row is zero and tells why."""
    server = vendor.server(vendor.model.dimension, poison=frozenset({"poison"}))
    texts = [f"texte {number}" for number in range(9)]
    texts[5] = "poison"
    breaker = CircuitBreaker("vendor", threshold=1)
    async with provider_of(
        server, vendor.build, vendor.model, path=vendor.path, breaker=breaker
    ) as provider:
        batch = await provider.embed(texts, DOCUMENT, None)

    assert [bool(text.failure) for text in batch.texts] == [text == "poison" for text in texts]
    assert "poison" not in batch.texts[5].failure
    assert not batch.vectors[5].any()
    for row, text in zip(np.delete(batch.vectors, 5, 0), texts[:5] + texts[6:], strict=True):
        np.testing.assert_allclose(row, vendor.expected(text, DOCUMENT), atol=1e-6)
    assert breaker.state is BreakerState.CLOSED
    assert len(server.bodies) <= 12


async def test_nothing_is_tried_again_unchanged_after_a_refusal(vendor: Vendor) -> None:
    """Every body that was refused differs from those before it."""
    server = vendor.server(vendor.model.dimension, poison=frozenset({"poison"}))
    async with provider_of(server, vendor.build, vendor.model, path=vendor.path) as provider:
        await provider.embed(["un", "poison", "deux", "trois"], DOCUMENT, None)

    bodies = [tuple(texts) for texts in server.embedded]
    assert len(set(bodies)) == len(bodies)


async def test_a_request_that_is_refused_as_a_whole_opens_the_breaker(vendor: Vendor) -> None:
    """Where even a harmless text is refused, no text is to blame and the next provider answers."""
    server = vendor.server(vendor.model.dimension)
    refusal = RefusedError(400, {"message": "no such thing"})
    server.failures = [refusal] * 20
    breaker = CircuitBreaker("vendor", threshold=5)
    async with provider_of(
        server, vendor.build, vendor.model, path=vendor.path, breaker=breaker
    ) as provider:
        with pytest.raises(VendorRefused):
            await provider.embed([f"texte {number}" for number in range(100)], DOCUMENT, None)

    assert breaker.state is BreakerState.OPEN
    # Up to three requests may be under way, each with its harmless text.
    assert len(server.bodies) <= 6


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_refused_key_or_account_is_left_at_once(vendor: Vendor, status: int) -> None:
    """One attempt, no harmless text, an open breaker."""
    server = vendor.server(vendor.model.dimension, failures=[RefusedError(status, {})] * 3)
    breaker = CircuitBreaker("vendor", threshold=5)
    async with provider_of(
        server, vendor.build, vendor.model, path=vendor.path, breaker=breaker
    ) as provider:
        with pytest.raises(VendorRefused) as caught:
            await provider.embed(["un", "deux"], DOCUMENT, None)

    assert isinstance(caught.value, VendorUnauthorized) is (status in (401, 403))
    assert len(server.bodies) == 1
    assert breaker.state is BreakerState.OPEN


async def test_a_long_text_is_sliced_and_flagged(vendor: Vendor) -> None:
    """Its vector is the average of its slices; no request holds more than the model takes."""
    server = vendor.server(vendor.model.dimension)
    text = " ".join(f"mot{number}" for number in range(vendor.model.input_tokens))
    async with provider_of(server, vendor.build, vendor.model, path=vendor.path) as provider:
        batch = await provider.embed([text, "court"], DOCUMENT, None)

    assert [outcome.sliced for outcome in batch.texts] == [True, False]
    assert np.linalg.norm(batch.vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
    sent = " ".join(text.removeprefix("search_document: ") for t in server.embedded for text in t)
    assert set(text.split()) <= set(sent.split())


async def test_a_status_of_200_proves_nothing(vendor: Vendor) -> None:
    """An error body, no vectors, too few, empty ones or wrong widths are the vendor's failure."""
    answers: list[Any] = [
        {"error": {"message": "busy"}},
        {"data": [], "embeddings": []},
        {"data": [{"embedding": [], "index": 0}], "embeddings": [[]]},
        {"data": [{"embedding": [1.0, 2.0], "index": 0}], "embeddings": [[1.0, 2.0]]},
        {"data": [{"embedding": ["1"] * 9, "index": 0}], "embeddings": [["1"] * 9]},
        [],
        None,
    ]
    server = vendor.server(vendor.model.dimension, tampered=lambda _: answers[0])
    breaker = CircuitBreaker("vendor", threshold=len(answers))
    async with provider_of(
        server, vendor.build, vendor.model, path=vendor.path, breaker=breaker
    ) as provider:
        while answers:
            with pytest.raises(VendorUnusable):
                await provider.embed(["un"], DOCUMENT, None)
            answers.pop(0)

    assert breaker.state is BreakerState.OPEN


async def test_a_missing_model_says_what_to_do() -> None:
    """Ollama's check names the command that cures it."""
    model = replace(ollama.MODELS["nomic-embed-text"], name="mxbai-embed-large")
    async with provider_of(OllamaServer(), ollama.ollama_provider, model) as provider:
        with pytest.raises(Unavailable, match="ollama pull mxbai-embed-large"):
            await provider.check()


async def test_an_ollama_check_loads_the_model_without_a_text() -> None:
    """An empty input brings the model into memory."""
    server = OllamaServer()
    model = ollama.MODELS["nomic-embed-text"]
    async with provider_of(server, ollama.ollama_provider, model) as provider:
        await provider.check()

    assert server.bodies == [{"model": "nomic-embed-text", "input": []}]
