"""Calls of an embedding vendor, as spans."""

from __future__ import annotations

from chassis.deadline import Deadline
from chassis.tracing.export import SpanExport, spans_exported
from embedder_svc.embedding import EmbeddingPurpose
from embedder_svc.providers.mistral import MODELS, mistral_provider
from tests.fakes.json_server import RefusedError
from tests.fakes.span_collector import attributes_of, span_collector
from tests.fakes.vendors.embedding_server import provider_of
from tests.fakes.vendors.mistral_server import MistralServer


async def test_a_batch_is_one_call_of_a_model_with_each_attempt_below() -> None:
    """The tokens that the vendor counts, the attempt that failed, and no text."""
    server = MistralServer(failures=[RefusedError(503, {"message": "overloaded"})])
    with span_collector() as collector:
        with spans_exported(SpanExport("embedder", collector.url)):
            async with provider_of(
                server, mistral_provider, MODELS["mistral-embed"], path="/v1"
            ) as provider:
                deadline = Deadline.after(30.0)
                await provider.embed(["fioul lourd"], EmbeddingPurpose.QUERY, deadline)
        call, attempts = collector.only("embeddings mistral-embed"), collector.named("POST")
    assert [one.parent_span_id for one in attempts] == [call.span_id] * 2
    assert attributes_of(attempts[0])["error.type"]
    assert "error.type" not in attributes_of(attempts[1])
    said = attributes_of(call)
    assert said["gen_ai.provider.name"] == "mistral"
    assert int(said["gen_ai.usage.input_tokens"]) > 0
    sent = b"".join(one.SerializeToString() for one in collector.spans)
    assert b"fioul" not in sent
