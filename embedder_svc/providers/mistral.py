"""Mistral's embeddings: 1024 wide, no word for query or document, nothing ever cut silently.

A request above 16,384 tokens or 512 inputs is refused (code 3210), a text above 8192 tokens too.
Prices are list prices of 2026.
"""

from collections.abc import Sequence
from typing import Any

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.answers import indexed_rows
from embedder_svc.hosted.embedding_client import embedding_client
from embedder_svc.hosted.model import HostedModel, WireFormat
from embedder_svc.hosted.provider import HostedProvider
from embedder_svc.price import Price

NAME = "mistral"
BASE_URL = "https://api.mistral.ai/v1"
DEFAULT_MODEL = "mistral-embed"
MODELS = {
    model.name: model
    for model in (
        HostedModel(
            DEFAULT_MODEL,
            dimension=1024,
            input_tokens=8000,
            tokens_per_character=0.32,
            request_texts=512,
            request_tokens=14_000,
            price=Price(0.10),
        ),
        HostedModel(
            "codestral-embed",
            dimension=1536,
            input_tokens=8000,
            tokens_per_character=0.35,
            request_texts=512,
            request_tokens=14_000,
            price=Price(0.15),
        ),
    )
}


def wire_format(model: HostedModel) -> WireFormat:
    """Returns how the model is asked: with the keys it knows, and no others."""

    def body(texts: Sequence[str], purpose: EmbeddingPurpose) -> dict[str, Any]:
        return {"model": model.name, "input": list(texts)}

    return WireFormat("/embeddings", body, indexed_rows)


def mistral_provider(
    connection: Connection, model: HostedModel, breaker: CircuitBreaker, timing: Timing
) -> HostedProvider:
    """Makes the provider; nothing is sent before its first use."""
    client = embedding_client(connection, connection.http(NAME), breaker, timing)
    return HostedProvider(NAME, model, wire_format(model), client)
