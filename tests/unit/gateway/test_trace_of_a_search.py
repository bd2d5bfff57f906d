"""One search over real sockets is one tree of spans, from its caller down to a vendor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from chassis.errors import Unavailable
from chassis.metrics import Metrics
from chassis.tracing.export import SpanExport, spans_exported
from gateway.service import running_gateway
from justesse.embedder.v1 import embedder_pb2
from rewriter_svc.service import running_rewriter
from rewriter_svc.settings import RewriterSettings
from tests.fakes.gateway_services.downstream import Answer, downstream
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.json_server import JsonServer, RefusedError, serving
from tests.fakes.span_collector import SpanCollector, attributes_of, span_collector
from tests.unit.gateway.test_running_gateway import (
    describe_workspace,
    search_passages,
    settings_for,
)

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
QUERY = "conteneur au port autonome"
REWRITE = "justesse.rewriter.v1.RewriterService/RewriteQuery"
EMBED = "justesse.embedder.v1.EmbedderService/EmbedTexts"
SEARCH = "justesse.retriever.v1.SearchService/SearchPassages"
RERANK = "justesse.reranker.v1.RerankerService/RerankPassages"


class BusyOnceChat(JsonServer):
    """A chat server that is busy at first, and then answers."""

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Answers with a rewritten query."""
        message = {"role": "assistant", "content": '{"queries": ["conteneur maritime"]}'}
        return {
            "model": "tiny",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38},
        }

    def answer_get(self, path: str) -> Any:
        """Lists no models."""
        return {"data": []}


def embed(_request: object) -> embedder_pb2.EmbedTextsResponse:
    """Is lost."""
    raise Unavailable("gone", reason="GONE")


def dotted(method: str) -> str:
    """Returns the name of a method as the fakes take it."""
    return method.replace("/", ".")


@pytest.fixture
def collector() -> Iterator[SpanCollector]:
    """A collector of spans."""
    with span_collector() as running:
        yield running


async def searched(collector: SpanCollector, database: SwitchDatabase) -> Metrics:
    """Asks once over HTTP, as part of a trace; returns the gateway's metrics."""
    metrics = Metrics()
    chat = BusyOnceChat(failures=[RefusedError(503, {"error": {"message": "busy"}})])
    answers: dict[str, Answer] = {
        "justesse.retriever.v1.WorkspaceService.DescribeWorkspace": describe_workspace,
        dotted(SEARCH): search_passages,
        dotted(EMBED): embed,
        dotted(RERANK): embed,
    }
    with spans_exported(SpanExport("mesh", collector.url)):
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(serving(chat))
            rewriter = await stack.enter_async_context(
                running_rewriter(
                    RewriterSettings(
                        port=0,
                        management_port=0,
                        metrics_port=0,
                        drain_grace_s=0.0,
                        chat_models=("openai/tiny",),
                        chat_base_url=f"{chat.url}/v1",
                    ),
                    metrics=Metrics(),
                )
            )
            others = await stack.enter_async_context(downstream(answers))
            settings = settings_for(database, others.address).model_copy(
                update={
                    "rewriter_target": rewriter.address,
                    "embedder_target": others.address,
                    "reranker_target": others.address,
                }
            )
            gateway = await stack.enter_async_context(running_gateway(settings, metrics=metrics))
            client = await stack.enter_async_context(
                httpx.AsyncClient(base_url=f"http://{gateway.http_address}", timeout=60)
            )
            answer = await client.post(
                "/v1/search",
                json={"workspace": "negoce", "query": QUERY},
                headers={"traceparent": f"00-{TRACE}-{CALLER}-01", "X-Timeout-Ms": "30000"},
            )
            assert answer.status_code == 200
    return metrics


async def test_one_search_is_one_tree(collector: SpanCollector, database: SwitchDatabase) -> None:
    """Request, stages, calls, calls served, model and attempts: each under the one before; errors
    and the retry are told; no text of the question is in any span."""
    metrics = await searched(collector, database)
    spans = [one for one in collector.spans if one.trace_id.hex() == TRACE]
    by_id = {one.span_id: one for one in spans}

    def path(one: Span) -> list[str]:
        above = by_id.get(one.parent_span_id)
        return [*(path(above) if above else ()), one.name]

    paths = [path(one) for one in spans]
    request = "POST /v1/search"
    for stage, method in (
        ("rewrite", REWRITE),
        ("embed", EMBED),
        ("search", SEARCH),
        ("rerank", RERANK),
    ):
        assert paths.count([request, f"stage {stage}", method, method]) == 1, stage
    model = [request, "stage rewrite", REWRITE, REWRITE, "chat tiny"]
    assert paths.count(model) == 1
    assert paths.count([*model, "POST"]) == 2

    (root,) = [one for one in spans if one.parent_span_id not in by_id]
    assert (root.name, root.parent_span_id.hex()) == (request, CALLER)
    said = attributes_of(root)
    assert (said["http.route"], said["http.response.status_code"]) == ("/v1/search", 200)

    chat = collector.only("chat tiny")
    assert attributes_of(chat) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "tiny",
        "gen_ai.usage.input_tokens": 31,
        "gen_ai.usage.output_tokens": 7,
    }
    busy, answered = (one.status.code for one in collector.named("POST"))
    assert (busy, answered) == (Status.STATUS_CODE_ERROR, Status.STATUS_CODE_UNSET)
    assert collector.only("stage embed").status.code == Status.STATUS_CODE_ERROR
    for search in collector.named("stage search"):
        assert search.status.code == Status.STATUS_CODE_UNSET

    degraded = {"stage": "embed", "outcome": "degraded", "reason": "GONE"}
    assert metrics.registry.get_sample_value("justesse_stages_total", degraded) == 1

    sent = b"".join(one.SerializeToString() for one in collector.spans)
    for words in (QUERY, "conteneur", "negoce"):
        assert words.encode() not in sent
