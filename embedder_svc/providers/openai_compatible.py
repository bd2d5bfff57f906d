"""Any server that speaks OpenAI's embeddings API: OpenAI, TEI, infinity, vLLM, llama.cpp.

What they take in one request differs widely, so another server than OpenAI's own is asked for its
limits (`/info`, as TEI has it) and else begins with few texts. `dimensions` is only sent where it
shortens the vectors of a model that can do so. Prices are list prices of 2026.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import structlog

from chassis.circuit_breaker import CircuitBreaker
from chassis.vendor_connection import Connection, Timing
from chassis.vendor_errors import VendorError, VendorTimeout, VendorUnavailable
from chassis.vendor_http import VendorHttp
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.answers import indexed_rows
from embedder_svc.hosted.embedding_client import embedding_client
from embedder_svc.hosted.model import HostedModel, WireFormat
from embedder_svc.hosted.provider import HostedProvider
from embedder_svc.hosted.request_caps import RequestCaps
from embedder_svc.price import Price

NAME = "openai"
BASE_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"
# TEI's own default; the others take more.
UNKNOWN_SERVER_TEXTS = 32

_INFO_TIMEOUT_S = 5.0
_log = structlog.get_logger("embedder_svc.openai_compatible")


def _openai_model(name: str, dimension: int, price: float) -> HostedModel:
    return HostedModel(
        name,
        dimension=dimension,
        input_tokens=8000,
        tokens_per_character=0.32,
        request_texts=2048,
        request_tokens=250_000,
        price=Price(price),
    )


MODELS = {
    model.name: model
    for model in (
        _openai_model(DEFAULT_MODEL, 1536, 0.02),
        _openai_model("text-embedding-3-large", 3072, 0.13),
        _openai_model("text-embedding-ada-002", 1536, 0.10),
    )
}


def other_model(name: str, dimension: int) -> HostedModel:
    """Returns a model of which nothing else is known: 512 tokens an input, price unknown."""
    return HostedModel(
        name,
        dimension=dimension,
        input_tokens=512,
        tokens_per_character=0.35,
        request_texts=UNKNOWN_SERVER_TEXTS,
        request_tokens=16_000,
    )


def shortened(model: HostedModel, dimension: int) -> HostedModel:
    """Returns the model with shorter vectors, which is another space."""
    return replace(model, dimension=dimension)


def wire_format(model: HostedModel, encoding: str | None = None) -> WireFormat:
    """Returns how the model is asked; `encoding` is float, base64 or, with None, the server's."""
    known = MODELS.get(model.name)
    options: dict[str, Any] = {}
    if encoding is not None:
        options["encoding_format"] = encoding
    if known is not None and known.dimension != model.dimension:
        options["dimensions"] = model.dimension

    def body(texts: Sequence[str], purpose: EmbeddingPurpose) -> dict[str, Any]:
        return {"model": model.name, "input": list(texts), **options}

    return WireFormat("/embeddings", body, indexed_rows)


def openai_compatible_provider(
    connection: Connection,
    model: HostedModel,
    breaker: CircuitBreaker,
    timing: Timing,
    encoding: str | None = None,
) -> HostedProvider:
    """Makes the provider; nothing is sent before its first use."""
    client = embedding_client(connection, connection.http(NAME), breaker, timing)
    prepare = None if connection.base_url == BASE_URL else _ServerLimits(connection).learn
    return HostedProvider(NAME, model, wire_format(model, encoding), client, prepare=prepare)


class _ServerLimits:
    """What a server says of its own limits, asked for once."""

    def __init__(self, connection: Connection) -> None:
        self._root = replace(connection, base_url=connection.base_url.removesuffix("/v1"))
        self._asked = False

    async def learn(self, caps: RequestCaps) -> None:
        """Asks, and takes over the answer; a server that has none is no worse for it."""
        if self._asked:
            return
        http = self._root.http(NAME)
        try:
            caps.told(*await _told(http))
        except (VendorTimeout, VendorUnavailable):
            return  # it may tell when it is back
        except VendorError as error:
            _log.info("the server does not tell its limits", error=str(error))
        finally:
            await http.close()
        self._asked = True


async def _told(http: VendorHttp) -> tuple[int | None, int | None]:
    answer = await http.exchange("GET", "/info", None, _INFO_TIMEOUT_S)
    info = answer.value if isinstance(answer.value, dict) else {}
    return _limit(info.get("max_client_batch_size")), _limit(info.get("max_input_length"))


def _limit(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None
