"""Texts turned into vectors, and the providers that do it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gateway.documents import FloatMatrix
from gateway.receipt import StageReport


class EmbeddingPurpose(Enum):
    """What a vector is for; both purposes belong to the same space."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """What became of one text; `sliced` marks a text longer than the model's input.

    `failure` tells why the provider cannot embed this text, though it embeds others; its row of
    the vectors holds zeros.
    """

    token_count: int
    token_count_estimated: bool = False
    sliced: bool = False
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedTexts:
    """Vectors of a batch of texts in the order of the request.

    `vectors` is float32, texts x dimension, each row of norm 1, or of zeros where its text failed,
    and in space `space_id`. `canary` is to be kept with vectors of documents, float32,
    little-endian; empty where there is none.
    """

    space_id: str
    vectors: FloatMatrix
    texts: tuple[EmbeddedText, ...]
    report: StageReport
    canary: bytes = b""


class ProviderState(Enum):
    """Whether an embedding provider takes calls."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    NOT_CONFIGURED = "not configured"
    DRIFTED = "drifted"


@dataclass(frozen=True, slots=True)
class Provider:
    """One embedding provider of the chain; `last_latency_ms` is None before its first success.

    `price_per_million_tokens` is 0 where it is free, None where the price is unknown.
    """

    name: str
    model: str
    space_id: str
    dimension: int
    input_limit_tokens: int
    tokens_per_character: float
    state: ProviderState
    last_error: str = ""
    last_latency_ms: float | None = None
    windows_recommended: bool = False
    price_per_million_tokens: float | None = None
    currency: str = ""
