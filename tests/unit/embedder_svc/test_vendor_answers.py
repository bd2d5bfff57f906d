"""Answers that must not be believed, or only after a closer look, over HTTP."""

from __future__ import annotations

import base64
from functools import partial
from typing import Any

import numpy as np
import pytest

from chassis.vendor_errors import VendorUnusable
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.providers.mistral import MODELS as MISTRAL_MODELS
from embedder_svc.providers.mistral import mistral_provider
from embedder_svc.providers.ollama import MODELS as OLLAMA_MODELS
from embedder_svc.providers.ollama import ollama_provider
from embedder_svc.providers.openai_compatible import MODELS as OPENAI_MODELS
from embedder_svc.providers.openai_compatible import (
    openai_compatible_provider,
    other_model,
)
from tests.fakes.vendors.embedding_server import provider_of, vector_of
from tests.fakes.vendors.mistral_server import MistralServer
from tests.fakes.vendors.ollama_server import OllamaServer
from tests.fakes.vendors.openai_servers import OpenAiServer

QUERY, DOCUMENT = EmbeddingPurpose.QUERY, EmbeddingPurpose.DOCUMENT
MISTRAL = MISTRAL_MODELS["mistral-embed"]
NOMIC, SMALL = OLLAMA_MODELS["nomic-embed-text"], OPENAI_MODELS["text-embedding-3-small"]
THREE = ["un", "deux", "trois"]


def assert_rows(vectors: np.ndarray, texts: list[str]) -> None:
    """Each row must be the vector of its own text."""
    for row, text in zip(vectors, texts, strict=True):
        np.testing.assert_allclose(row, vector_of(text, vectors.shape[1]), atol=1e-6)


def reordered(order: list[Any]) -> Any:
    """Returns what sends the items of an answer in another order, or with other indices."""

    def tamper(value: Any) -> Any:
        if len(value["data"]) == len(order):
            value["data"] = [value["data"][at] for at in order]
        return value

    return tamper


async def test_vectors_are_placed_by_index() -> None:
    """Items in another order belong to the texts that their indices name."""
    server = MistralServer(tampered=reordered([2, 0, 1]))
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        batch = await provider.embed(THREE, DOCUMENT, None)

    assert_rows(batch.vectors, THREE)


async def test_the_order_counts_where_no_item_has_an_index() -> None:
    """Mistral's index is optional."""
    server = MistralServer(with_index=False)
    async with provider_of(server, mistral_provider, MISTRAL, path="/v1") as provider:
        batch = await provider.embed(THREE, DOCUMENT, None)

    assert_rows(batch.vectors, THREE)


@pytest.mark.parametrize(
    "indices",
    [[0, 0, 2], [0, 1, 3], [-1, 0, 1], [0, 1, None], ["0", "1", "2"], [0, True, 2]],
    ids=["twice", "beyond", "negative", "missing", "texts", "bool"],
)
async def test_indices_must_name_each_text_once(indices: list[Any]) -> None:
    """Whatever else they are, nothing of the answer is believed."""

    def tamper(value: Any) -> Any:
        for item, index in zip(value["data"], indices, strict=True):
            item["index"] = index
        return value

    server = OpenAiServer(tampered=tamper)
    async with provider_of(server, openai_compatible_provider, SMALL, path="/v1") as provider:
        with pytest.raises(VendorUnusable, match="indices"):
            await provider.embed(THREE, DOCUMENT, None)


@pytest.mark.parametrize("kept", [[0, 1], [1, 2], [0, 2], [0, 1, 2, 2]])
async def test_counts_must_match(kept: list[int]) -> None:
    """A lost or doubled item would shift all others."""

    def tamper(value: Any) -> Any:
        value["data"] = [value["data"][at] for at in kept]
        return value

    server = OpenAiServer(tampered=tamper)
    async with provider_of(server, openai_compatible_provider, SMALL, path="/v1") as provider:
        with pytest.raises(VendorUnusable, match="3 texts"):
            await provider.embed(THREE, DOCUMENT, None)


@pytest.mark.parametrize("answers_in", ["float", "base64"])
@pytest.mark.parametrize("asked", [None, "float", "base64"])
async def test_both_encodings_are_read_whatever_was_asked(
    asked: str | None, answers_in: str
) -> None:
    """Some servers ignore the encoding that they are asked for."""

    server = OpenAiServer(answers_in=answers_in)
    build = partial(openai_compatible_provider, encoding=asked)
    async with provider_of(server, build, SMALL, path="/v1") as provider:
        batch = await provider.embed(THREE, DOCUMENT, None)

    assert_rows(batch.vectors, THREE)
    assert server.bodies[0].get("encoding_format") == asked


async def test_base64_is_little_endian_float32() -> None:
    """The known example decodes to 1 and 2 (norm brought to 1)."""
    encoded = base64.b64encode(np.array([1.0, 2.0], dtype="<f4").tobytes()).decode()
    assert encoded == "AACAPwAAAEA="
    server = OpenAiServer(
        2, tampered=lambda _: {"data": [{"embedding": encoded, "index": 0}], "usage": None}
    )
    model = other_model("tiny", 2)
    async with provider_of(server, openai_compatible_provider, model, path="/v1") as provider:
        batch = await provider.embed(["un"], DOCUMENT, None)

    np.testing.assert_allclose(batch.vectors[0], np.array([1.0, 2.0]) / 5**0.5, rtol=1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, 0.0], ids=str)
async def test_rows_without_a_direction_are_isolated(bad: float | None) -> None:
    """NaN in the JSON, null components and zero vectors spoil their own text only."""

    def tamper(value: Any) -> Any:
        for item, text in zip(value["data"], server.embedded[-1], strict=True):
            if text == "deux":
                item["embedding"] = [bad] * 1536
        return value

    server = OpenAiServer(tampered=tamper)
    async with provider_of(server, openai_compatible_provider, SMALL, path="/v1") as provider:
        batch = await provider.embed(THREE, DOCUMENT, None)

    assert [bool(text.failure) for text in batch.texts] == [False, True, False]
    assert_rows(batch.vectors[[0, 2]], ["un", "trois"])


async def test_whole_numbers_are_no_embedding() -> None:
    """Quantised vectors would pass for another space's."""
    server = OpenAiServer(
        tampered=lambda value: value | {"data": [{"index": 0, "embedding": [12, -7] * 768}]}
    )
    async with provider_of(server, openai_compatible_provider, SMALL, path="/v1") as provider:
        with pytest.raises(VendorUnusable, match="whole numbers"):
            await provider.embed(["un"], DOCUMENT, None)


async def test_batches_may_differ_a_little_from_single_texts() -> None:
    """Nothing but the direction counts: noise below a cosine of 0.999 is accepted."""
    noise = np.random.default_rng(7)

    def tamper(value: Any) -> Any:
        value["embeddings"] = [
            [float(number) for number in np.array(row) + noise.normal(scale=1e-4, size=768)]
            for row in value["embeddings"]
        ]
        return value

    async with provider_of(OllamaServer(tampered=tamper), ollama_provider, NOMIC) as provider:
        together = await provider.embed(THREE, DOCUMENT, None)
        alone = [await provider.embed([text], DOCUMENT, None) for text in THREE]

    for row, single in zip(together.vectors, alone, strict=True):
        assert float(row @ single.vectors[0]) >= 0.999
        assert not single.texts[0].token_count_estimated
