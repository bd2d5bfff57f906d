"""Stages that cost nothing are stages all the same."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import grpc.aio

from benchmarks.canned_answers import WORKSPACE, answers_of
from benchmarks.canned_stage import CannedHandlers
from benchmarks.gateway_hops import LIMIT, STAGES
from chassis.metrics import Metrics
from gateway.service import running_gateway
from gateway.settings import GatewaySettings
from justesse.gateway.v1 import search_pb2, search_pb2_grpc


async def canned(stage: str, stack: AsyncExitStack) -> str:
    """Serves the answers of one stage and returns its address."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([CannedHandlers(answers_of(stage), 0.0)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    stack.push_async_callback(server.stop, None)
    return f"127.0.0.1:{port}"


async def test_the_gateway_loses_no_stage_before_canned_answers(tmp_path: Path) -> None:
    """Else the benchmark of the gateway would time another path than a search takes."""
    async with AsyncExitStack() as stack:
        targets = {stage: await canned(stage, stack) for stage in STAGES}
        settings = GatewaySettings(
            port=0,
            management_port=0,
            metrics_port=0,
            http_port=0,
            drain_grace_s=0.0,
            database_url=f"sqlite+aiosqlite:///{tmp_path}/gateway.sqlite",
            rewriter_target=targets["rewriter"],
            embedder_target=targets["embedder"],
            retriever_target=targets["retriever"],
            reranker_target=targets["reranker"],
        )
        gateway = await stack.enter_async_context(running_gateway(settings, metrics=Metrics()))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(gateway.server.address))
        search = search_pb2_grpc.SearchServiceStub(channel).SearchPassages
        for _ in range(2):
            answer = await search(
                search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query="combien ?"),
                timeout=30,
            )

    assert not answer.receipt.degraded, answer.receipt
    assert {stage.stage for stage in answer.receipt.stages} == {
        "rewrite",
        "embed",
        "search",
        "rerank",
    }
    assert len(answer.hits) == LIMIT
