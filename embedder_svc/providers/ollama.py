"""A model served by Ollama, through its native route.

Ollama adds no prefixes, so they are added here. nomic-embed-text takes 2048 tokens in the form
Ollama serves, whatever its card says. Cutting is switched off; some versions cut all the same,
which only the token count of a text that travelled alone gives away.
"""

from collections.abc import Sequence
from typing import Any

from chassis.circuit_breaker import CircuitBreaker
from chassis.errors import Unavailable
from chassis.patience import Patience
from chassis.vendor_connection import Connection, Timing
from chassis.vendor_errors import VendorRefused
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.answers import listed_rows
from embedder_svc.hosted.embedding_client import embedding_client
from embedder_svc.hosted.model import HostedModel, WireFormat
from embedder_svc.hosted.provider import HostedProvider
from embedder_svc.hosted.request_caps import RequestCaps
from embedder_svc.prefixes import Prefixes
from embedder_svc.price import FREE

NAME = "ollama"
DEFAULT_MODEL = "nomic-embed-text"
DEFAULT_PORT = 11434
# A model that is not in memory is loaded by the first call.
LOADING_TIMEOUT_S = 300.0

_PATH = "/api/embed"
MODELS = {
    DEFAULT_MODEL: HostedModel(
        DEFAULT_MODEL,
        dimension=768,
        input_tokens=2048,
        tokens_per_character=0.35,
        request_texts=64,
        request_tokens=64_000,
        price=FREE,
        prefixes=Prefixes(query="search_query: ", document="search_document: "),
        prefix_scheme="nomic",
        revision="v1.5",
        alone_above_tokens=1024,
    )
}


def other_model(name: str, dimension: int) -> HostedModel:
    """Returns a model of which nothing else is known: 512 tokens an input, no prefixes."""
    return HostedModel(
        name,
        dimension=dimension,
        input_tokens=512,
        tokens_per_character=0.35,
        request_texts=64,
        request_tokens=32_000,
        price=FREE,
        alone_above_tokens=256,
    )


def wire_format(model: HostedModel) -> WireFormat:
    """Returns how the model is asked."""

    def body(texts: Sequence[str], purpose: EmbeddingPurpose) -> dict[str, Any]:
        return {"model": model.name, "input": list(texts), "truncate": False}

    return WireFormat(_PATH, body, listed_rows, count_shows_cut=True)


def ollama_provider(
    connection: Connection, model: HostedModel, breaker: CircuitBreaker, timing: Timing
) -> HostedProvider:
    """Makes the provider; its checks bring the model into Ollama's memory."""
    http = connection.http(NAME, read_timeout_s=LOADING_TIMEOUT_S)
    client = embedding_client(connection, http, breaker, timing)
    patience = Patience(
        attempt_timeout_s=LOADING_TIMEOUT_S, total_timeout_s=LOADING_TIMEOUT_S, attempts=1
    )
    loading = embedding_client(connection, http, breaker, timing, patience)

    async def load(_: RequestCaps) -> None:
        try:
            await loading.post_json(_PATH, {"model": model.name, "input": []})
        except VendorRefused as refused:
            if refused.status != 404:
                raise
            raise Unavailable(
                f"ollama has no model {model.name}: run `ollama pull {model.name}`",
                reason="MODEL_NOT_LOADED",
            ) from refused

    return HostedProvider(NAME, model, wire_format(model), client, prepare=load)
