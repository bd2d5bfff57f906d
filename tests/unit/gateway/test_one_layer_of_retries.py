"""A call that fails is tried again in one place: not by the gateway and by a service behind it."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import grpc.aio
import pytest

from chassis.channel import ChannelSettings
from chassis.errors import Unavailable
from chassis.metrics import Metrics
from chat_models.chat_client import ATTEMPTS
from gateway.service import running_gateway
from justesse.gateway.v1 import search_pb2, search_pb2_grpc
from justesse.retriever.v1 import workspaces_pb2
from rewriter_svc.service import running_rewriter
from rewriter_svc.settings import RewriterSettings
from tests.fakes.gateway_services.downstream import Answer, Downstream, downstream
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.json_server import JsonServer, RefusedError, serving
from tests.unit.gateway.test_running_gateway import search_passages, settings_for

METHODS = {
    "rewriter": "justesse.rewriter.v1.RewriterService.RewriteQuery",
    "embedder": "justesse.embedder.v1.EmbedderService.EmbedTexts",
    "reranker": "justesse.reranker.v1.RerankerService.RerankPassages",
}


def lost(_request: object) -> search_pb2.SearchPassagesResponse:
    """Answers UNAVAILABLE."""
    raise Unavailable("gone", reason="GONE")


def workspace(_request: object) -> workspaces_pb2.DescribeWorkspaceResponse:
    """Answers with a workspace that has one space."""
    space = workspaces_pb2.Space(space_id="s", dimension=4, passage_count=1)
    return workspaces_pb2.DescribeWorkspaceResponse(
        workspace=workspaces_pb2.Workspace(slug="negoce", spaces=[space], spaces_version=1)
    )


@pytest.mark.parametrize("retriever_is_lost", [False, True])
async def test_each_service_is_asked_as_often_as_one_layer_asks(
    database: SwitchDatabase, retriever_is_lost: bool
) -> None:
    """Those that ask models try these again themselves, so they are asked once; the retriever asks
    nobody, so its reads are tried three times by the channel. One search, every layer in place."""
    described = "justesse.retriever.v1.WorkspaceService.DescribeWorkspace"
    searched = "justesse.retriever.v1.SearchService.SearchPassages"
    answers: dict[str, Answer] = {
        described: workspace,
        searched: lost if retriever_is_lost else search_passages,
    }
    seen: dict[str, Downstream] = {}
    async with AsyncExitStack() as stack:
        for name, method in METHODS.items():
            seen[name] = await stack.enter_async_context(downstream({method: lost}))
        seen["retriever"] = await stack.enter_async_context(downstream(answers))
        settings = settings_for(database).model_copy(
            update={f"{name}_target": each.address for name, each in seen.items()}
        )
        gateway = await stack.enter_async_context(running_gateway(settings, metrics=Metrics()))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(gateway.server.address))
        call = search_pb2_grpc.SearchServiceStub(channel).SearchPassages(
            search_pb2.SearchPassagesRequest(workspace="negoce", query="conteneur au port"),
            timeout=30,
        )
        status = await call.code()

    asked = Counter({name: len(each.seen) for name, each in seen.items()})
    tries = ChannelSettings().retry_attempts
    assert status is (grpc.StatusCode.UNAVAILABLE if retriever_is_lost else grpc.StatusCode.OK)
    assert asked == Counter(
        rewriter=1,
        embedder=1,
        reranker=0 if retriever_is_lost else 1,
        # The workspace, and the search.
        retriever=1 + (tries if retriever_is_lost else 1),
    )


@dataclass
class BusyChat(JsonServer):
    """A chat server that is always busy."""

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Refuses every question."""
        raise RefusedError(503, {"error": {"message": "busy", "type": "server_error"}})

    def answer_get(self, path: str) -> Any:
        """Lists no models."""
        return {"data": []}


async def test_a_vendor_is_asked_as_often_as_one_layer_asks(database: SwitchDatabase) -> None:
    """One search, through the gateway and the rewriter, of a chat server that always fails: the
    attempts of the service that asks it, not as many again for each layer before it."""
    described = "justesse.retriever.v1.WorkspaceService.DescribeWorkspace"
    searched = "justesse.retriever.v1.SearchService.SearchPassages"
    chat = BusyChat()
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
        retriever = await stack.enter_async_context(
            downstream({described: workspace, searched: search_passages})
        )
        settings = settings_for(database, retriever.address).model_copy(
            update={"rewriter_target": rewriter.address}
        )
        gateway = await stack.enter_async_context(running_gateway(settings, metrics=Metrics()))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(gateway.server.address))
        answer = await search_pb2_grpc.SearchServiceStub(channel).SearchPassages(
            search_pb2.SearchPassagesRequest(workspace="negoce", query="conteneur au port"),
            timeout=60,
        )

    (report,) = [each for each in answer.receipt.stages if each.stage == "rewrite"]
    assert report.outcome == search_pb2.STAGE_OUTCOME_DEGRADED
    assert len(chat.bodies) == ATTEMPTS
