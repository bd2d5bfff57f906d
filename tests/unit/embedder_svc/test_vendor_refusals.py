"""What an error says of the request, for the bodies that vendors are known to send."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from chassis.vendor_connection import Timing
from chassis.vendor_errors import (
    VendorError,
    VendorGarbled,
    VendorLimited,
    VendorRefused,
    VendorUnauthorized,
    VendorUnavailable,
)
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.hosted.refusals import Refusal, judged, refusal_of
from embedder_svc.providers.mistral import MODELS, mistral_provider
from tests.fakes.clock import FakeClock
from tests.fakes.json_server import RefusedError
from tests.fakes.vendors.embedding_server import provider_of
from tests.fakes.vendors.mistral_server import MistralServer

KINDS: dict[int, type[VendorError]] = {
    401: VendorUnauthorized,
    403: VendorUnauthorized,
    429: VendorLimited,
    500: VendorUnavailable,
    503: VendorUnavailable,
}

BODIES: list[tuple[int, Any, Refusal | None]] = [
    (400, {"message": "Too many tokens in batch. Max is 16384"}, Refusal.TOO_MANY_TOKENS),
    (
        400,
        {"message": "Too many tokens overall, split into more batches.", "code": "3210"},
        Refusal.TOO_MANY_TOKENS,
    ),
    (400, {"message": "Too many inputs in request", "code": "3210"}, Refusal.TOO_MANY_TEXTS),
    (400, {"message": "no", "code": 3210}, Refusal.TOO_LARGE),
    (400, {"message": "no", "code": 32100}, Refusal.TEXT),
    (
        400,
        {"detail": "The max allowed tokens per submitted batch is 1"},
        Refusal.TOO_MANY_TOKENS,
    ),
    (400, {"error": "the input length exceeds the context length"}, Refusal.TOO_MANY_TOKENS),
    (400, {"error": "embedding contains NaN or Inf values"}, Refusal.TEXT),
    (500, {"error": "failed to encode response: unsupported value: NaN"}, Refusal.TEXT),
    (400, {"error": {"message": "'$.input' is invalid"}}, Refusal.TEXT),
    (413, "length limit exceeded", Refusal.TOO_LARGE),
    (422, {"message": "batch size 33 > maximum allowed batch size 32"}, Refusal.TOO_MANY_TEXTS),
    (413, {"message": "`inputs` must have less than 512 tokens."}, Refusal.TOO_MANY_TOKENS),
    (422, {"detail": [{"msg": "List should have at most 2048 items"}]}, Refusal.TOO_MANY_TEXTS),
    (424, {"message": "score is NaN", "type": "Backend"}, Refusal.TEXT),
    (
        400,
        {"object": "error", "message": "This model's maximum context length is 512 tokens"},
        Refusal.TOO_MANY_TOKENS,
    ),
    (
        500,
        {"error": {"message": "input (600 tokens) is too large to process. increase ..."}},
        Refusal.TOO_MANY_TOKENS,
    ),
    (404, {"error": 'model "x" not found, try pulling it first'}, Refusal.PERMANENT),
    (402, {"message": "payment required"}, Refusal.PERMANENT),
    (401, {"message": "Unauthorized"}, Refusal.PERMANENT),
    (307, "", Refusal.PERMANENT),
    (429, {"error": {"code": "insufficient_quota"}}, Refusal.PERMANENT),
    (429, {"error": {"code": "rate_limit_exceeded"}}, None),
    (429, {"message": "Requests rate limit exceeded"}, None),
    (429, {"type": "invalid_request_error", "message": "Service tier capacity exceeded"}, None),
    (503, {"error": "server busy, please try again"}, None),
    (500, {"error": "out of memory"}, None),
]


def error_of(status: int, body: Any) -> VendorError:
    """The error that this answer becomes."""
    kind = KINDS.get(status, VendorRefused)
    excerpt = body if isinstance(body, str) else json.dumps(body)
    retryable = status == 429 or status >= 500
    return kind("vendor", "failed", status=status, excerpt=excerpt, retryable=retryable)


@pytest.mark.parametrize(("status", "body", "refusal"), BODIES)
def test_known_bodies_are_understood(status: int, body: Any, refusal: Refusal | None) -> None:
    """By status and words, whatever the shape; a refusal is never tried again."""
    error = error_of(status, body)

    assert refusal_of(error) is refusal
    assert judged(error).retryable is (refusal is None)
    assert refusal_of(judged(error)) is refusal


def test_unreadable_answers_may_be_the_texts_fault() -> None:
    """NaN is; a cut answer is not."""
    assert refusal_of(VendorGarbled("v", "sent NaN")) is Refusal.TEXT
    assert refusal_of(VendorGarbled("v", "was cut", retryable=True)) is None
    assert refusal_of(VendorUnavailable("v", "could not be reached", retryable=True)) is None


@pytest.mark.parametrize(("status", "body", "refusal"), BODIES)
async def test_known_bodies_are_acted_upon_over_http(
    status: int, body: Any, refusal: Refusal | None
) -> None:
    """Sent once to a single text: waiting helps against outages and limits, nothing against a
    permanent refusal; a text at fault is named; a text that is too long is cut, not dropped."""
    texts = [" ".join(f"mot{number}" for number in range(200))]
    clock = FakeClock(auto=True)
    server = MistralServer(failures=[RefusedError(status, body)])
    timing = Timing(clock, clock.sleep, random.Random(7))
    async with provider_of(
        server, mistral_provider, MODELS["mistral-embed"], path="/v1", timing=timing
    ) as provider:
        if refusal is Refusal.PERMANENT:
            with pytest.raises(VendorError):
                await provider.embed(texts, EmbeddingPurpose.DOCUMENT, None)
            assert len(server.bodies) == 1
            return
        batch = await provider.embed(texts, EmbeddingPurpose.DOCUMENT, None)

    (text,) = batch.texts
    if refusal is None:
        assert (len(server.bodies), text.failure, text.sliced) == (2, "", False)
    elif refusal is Refusal.TEXT:
        assert text.failure
    else:
        assert (text.failure, text.sliced) == ("", True)
