"""Voyage's embeddings: `input_type` tells query from document, base64 or nothing as encoding.

Widths differ by model (voyage-3-lite is 512 wide, voyage-3 1024), and so do the tokens a request
may hold. Its tokenizer makes more tokens of a text than most. `truncation` is on by default and
silent, so it is switched off: what is too long is refused, and sliced here. Prices are list prices
of 2026.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import SecretStr

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.answers import indexed_rows
from embedder_svc.hosted.embedding_client import embedding_client
from embedder_svc.hosted.model import HostedModel, WireFormat
from embedder_svc.hosted.provider import HostedProvider
from embedder_svc.price import Price

NAME = "voyage"
BASE_URL = "https://api.voyageai.com/v1"
# Keys that begin with "al-" belong to the same service at another address.
ATLAS_BASE_URL = "https://ai.mongodb.com/v1"
DEFAULT_MODEL = "voyage-3-lite"


def _model(name: str, dimension: int, request_tokens: int, price: float) -> HostedModel:
    return HostedModel(
        name,
        dimension=dimension,
        input_tokens=30_000,
        tokens_per_character=0.5,
        request_texts=128,
        request_tokens=request_tokens * 7 // 8,
        price=Price(price),
        prefix_scheme="input-type",
    )


MODELS = {
    model.name: model
    for model in (
        _model("voyage-3-lite", 512, 1_000_000, 0.02),
        _model("voyage-3", 1024, 320_000, 0.06),
        _model("voyage-3-large", 1024, 120_000, 0.18),
        _model("voyage-3.5", 1024, 320_000, 0.06),
        _model("voyage-3.5-lite", 1024, 1_000_000, 0.02),
        _model("voyage-4", 1024, 320_000, 0.06),
        _model("voyage-4-lite", 1024, 1_000_000, 0.02),
        _model("voyage-4-large", 1024, 120_000, 0.12),
        _model("voyage-code-3", 1024, 120_000, 0.18),
        _model("voyage-finance-2", 1024, 120_000, 0.12),
        _model("voyage-law-2", 1024, 120_000, 0.12),
    )
}


def base_url_for(key: SecretStr) -> str:
    """Returns the address that a key belongs to."""
    return ATLAS_BASE_URL if key.get_secret_value().startswith("al-") else BASE_URL


def wire_format(model: HostedModel) -> WireFormat:
    """Returns how the model is asked."""

    def body(texts: Sequence[str], purpose: EmbeddingPurpose) -> dict[str, Any]:
        return {
            "model": model.name,
            "input": list(texts),
            "input_type": purpose.value,
            "truncation": False,
            "encoding_format": "base64",
        }

    return WireFormat("/embeddings", body, indexed_rows)


def voyage_provider(
    connection: Connection, model: HostedModel, breaker: CircuitBreaker, timing: Timing
) -> HostedProvider:
    """Makes the provider; nothing is sent before its first use."""
    client = embedding_client(connection, connection.http(NAME), breaker, timing)
    return HostedProvider(NAME, model, wire_format(model), client)
