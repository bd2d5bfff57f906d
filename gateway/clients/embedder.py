"""The embedder over gRPC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import grpc
import numpy as np

from chassis.errors import Internal
from gateway.clients.service_errors import errors_of
from gateway.clients.stage_reports import stage_report_from
from gateway.documents import FloatMatrix
from gateway.embedding import (
    EmbeddedText,
    EmbeddedTexts,
    EmbeddingPurpose,
    Provider,
    ProviderState,
)
from justesse.embedder.v1 import embedder_pb2, embedder_pb2_grpc

_PURPOSES = {
    EmbeddingPurpose.QUERY: embedder_pb2.EMBEDDING_PURPOSE_QUERY,
    EmbeddingPurpose.DOCUMENT: embedder_pb2.EMBEDDING_PURPOSE_DOCUMENT,
}
_STATES = {
    embedder_pb2.PROVIDER_STATE_AVAILABLE: ProviderState.AVAILABLE,
    embedder_pb2.PROVIDER_STATE_NOT_CONFIGURED: ProviderState.NOT_CONFIGURED,
    embedder_pb2.PROVIDER_STATE_DRIFTED: ProviderState.DRIFTED,
}


class EmbedderClient:
    """Implements the `Embedder` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = embedder_pb2_grpc.EmbedderServiceStub(channel)

    async def embed(
        self,
        texts: Sequence[str],
        purpose: EmbeddingPurpose,
        space_id: str | None = None,
        workspace: str = "",
        *,
        accept_failures: bool = False,
        canaries: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> EmbeddedTexts:
        """Embeds 1 to 256 texts; Internal where the answer breaks the contract."""
        request = embedder_pb2.EmbedTextsRequest(
            texts=texts,
            purpose=_PURPOSES[purpose],
            space_id=space_id,
            workspace=workspace,
            accept_failures=accept_failures,
            kept_canaries=[
                embedder_pb2.KeptCanary(space_id=kept, vector=vector)
                for kept, vector in (canaries or {}).items()
                if space_id in (None, kept)
            ],
        )
        with errors_of("embedder"):
            response = await self._stub.EmbedTexts(request, timeout=timeout)
        if space_id is not None and response.space_id != space_id:
            raise _broken_answer(f"space {response.space_id!r} instead of {space_id!r}")
        return EmbeddedTexts(
            space_id=response.space_id,
            vectors=_vectors_from(response, len(texts)),
            texts=tuple(
                EmbeddedText(
                    text.token_count, text.token_count_estimated, text.sliced, text.failure
                )
                for text in response.texts
            ),
            report=stage_report_from("embed", response.report),
            canary=response.canary_vector,
        )

    async def describe_providers(self, *, timeout: float | None = None) -> tuple[Provider, ...]:
        """Describes the configured providers in chain order."""
        with errors_of("embedder"):
            response = await self._stub.DescribeProviders(
                embedder_pb2.DescribeProvidersRequest(), timeout=timeout
            )
        return tuple(_provider_from(provider) for provider in response.providers)


def _vectors_from(response: embedder_pb2.EmbedTextsResponse, row_count: int) -> FloatMatrix:
    """Reads the block as float32, rows x dimension; the array is read-only."""
    expected_length = 4 * row_count * response.dimension
    if response.dimension < 1 or len(response.vectors) != expected_length:
        raise _broken_answer(
            f"{len(response.vectors)} bytes of vectors for {row_count} texts of width "
            f"{response.dimension}"
        )
    vectors = np.frombuffer(response.vectors, dtype="<f4").reshape(row_count, response.dimension)
    if not np.isfinite(vectors).all():
        raise _broken_answer("a vector with a value that is not finite")
    return vectors


def _broken_answer(what: str) -> Internal:
    return Internal(f"the embedder answered with {what}", reason="EMBEDDER_ANSWER_BROKEN")


def _provider_from(provider: embedder_pb2.Provider) -> Provider:
    return Provider(
        name=provider.name,
        model=provider.model,
        space_id=provider.space_id,
        dimension=provider.dimension,
        input_limit_tokens=provider.input_limit_tokens,
        tokens_per_character=provider.tokens_per_character,
        state=_STATES.get(provider.state, ProviderState.UNAVAILABLE),
        last_error=provider.last_error,
        last_latency_ms=provider.last_latency_ms if provider.HasField("last_latency_ms") else None,
        windows_recommended=provider.windows_recommended,
        price_per_million_tokens=(
            provider.price_per_million_tokens
            if provider.HasField("price_per_million_tokens")
            else None
        ),
        currency=provider.currency,
    )
