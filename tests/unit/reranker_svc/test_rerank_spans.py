"""Calls of a cross-encoder behind HTTP, as spans."""

from __future__ import annotations

from chassis.tracing.export import SpanExport, spans_exported
from reranker_svc.bill import Bill
from tests.fakes.rerank_endpoints import PASSAGES, QUESTION, SERVERS, model_of, soon
from tests.fakes.span_collector import attributes_of, span_collector


async def test_an_order_is_one_call_of_a_model_and_its_attempts() -> None:
    """With provider, model and what it read; without question and passages."""
    with span_collector() as collector:
        with spans_exported(SpanExport("reranker", collector.url)):
            async with model_of(SERVERS["cohere"](), "cohere") as model:
                await model.order(QUESTION, PASSAGES, soon(), Bill())
        call, attempt = collector.only("rerank a-reranker"), collector.only("POST")
    assert attempt.parent_span_id == call.span_id
    said = attributes_of(call)
    assert (said["gen_ai.provider.name"], said["gen_ai.operation.name"]) == ("cohere", "rerank")
    assert "gen_ai.usage.input_tokens" in said
    sent = b"".join(one.SerializeToString() for one in collector.spans)
    assert b"fioul" not in sent
