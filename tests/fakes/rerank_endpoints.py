"""A server of each kind of rerank endpoint, and the model that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chassis.deadline import Deadline
from chassis.metrics import Metrics
from chassis.settings import read_settings
from reranker_svc.endpoints.endpoint_model import EndpointModel
from reranker_svc.passage_model import Passage
from reranker_svc.service import endpoint_model
from reranker_svc.settings import RerankerSettings
from tests.fakes.json_server import serving
from tests.fakes.vendors.rerank_servers import (
    KEY,
    CohereServer,
    InfinityServer,
    JinaServer,
    LlamaCppServer,
    MixedbreadServer,
    RerankServer,
    TeiServer,
    VllmServer,
    VoyageServer,
)

SERVERS: dict[str, type[RerankServer]] = {
    "tei": TeiServer,
    "cohere": CohereServer,
    "jina": JinaServer,
    "voyage": VoyageServer,
    "mixedbread": MixedbreadServer,
    "infinity": InfinityServer,
    "vllm": VllmServer,
    "llamacpp": LlamaCppServer,
}
QUESTION = "prix du gaz naturel"
PASSAGES = (
    Passage("", "Le fioul."),
    Passage("", "Le prix du fioul."),
    Passage("Énergie", "Le prix du gaz naturel."),
    Passage("", "Le prix du fioul."),
)


def soon() -> Deadline:
    """A deadline that no test waits for."""
    return Deadline.after(5.0)


def settings_of(server: RerankServer, kind: str, model: str) -> RerankerSettings:
    """Returns what an operator would set."""
    environment = {
        "JUSTESSE_RERANKER_ENDPOINT_KIND": kind,
        "JUSTESSE_RERANKER_ENDPOINT_URL": server.url,
        "JUSTESSE_RERANKER_ENDPOINT_API_KEY": KEY,
        "JUSTESSE_RERANKER_ENDPOINT_MODEL": model,
    }
    return read_settings(RerankerSettings, environment)


@asynccontextmanager
async def model_of(server: RerankServer, kind: str) -> AsyncIterator[EndpointModel]:
    """Runs the server and a model that asks it."""
    async with serving(server):
        model = endpoint_model(
            settings_of(server, kind, "" if kind == "tei" else "a-reranker"), Metrics()
        )
        async with model.running():
            yield model
