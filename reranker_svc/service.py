"""Puts the reranker together and keeps it running."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import structlog
from pydantic import SecretStr

from chassis.breaker_metrics import breaker_metrics_of
from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.cost_ledger import CostLedger
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import Metrics, process_metrics
from chassis.patience import Patience
from chassis.rate_limiter import RateLimiter
from chassis.server import RunningServer, running_server
from chassis.vendor_client import VendorClient
from chassis.vendor_http import VendorHttp, VendorHttpSettings
from chat_models.catalogue import configured_chain
from reranker_svc.chat.listwise_chat import ListwiseChat
from reranker_svc.endpoints.addresses import base_and_path
from reranker_svc.endpoints.endpoint_model import EndpointModel
from reranker_svc.endpoints.refusals import judged
from reranker_svc.folder.cross_encoder import CrossEncoder
from reranker_svc.folder.folder_model import FolderModel
from reranker_svc.implementation import Implementation
from reranker_svc.passage_model import PassageModel
from reranker_svc.passage_reranker import PassageReranker
from reranker_svc.servicer import RerankerServicer, served
from reranker_svc.settings import RerankerSettings
from reranker_svc.usage import usage_of

_log = structlog.get_logger("reranker_svc.service")

# A search waits for it: one more attempt at most, and no long pause.
_PATIENCE = Patience(
    attempt_timeout_s=10.0, total_timeout_s=20.0, fair_timeout_s=0.5, attempts=2, backoff_s=0.1
)


@asynccontextmanager
async def running_reranker(
    settings: RerankerSettings, *, metrics: Metrics | None = None
) -> AsyncIterator[RunningServer]:
    """Serves while inside; a model from a folder is in memory before that.

    Raises Unavailable if that model cannot be used.
    """
    metrics = metrics or process_metrics()
    cap = settings.daily_cost_cap
    async with AsyncExitStack() as stack:
        models = configured_models(settings, metrics)
        for model in models.values():
            await stack.enter_async_context(model.running())
        reranker = PassageReranker(
            models,
            usage_of(metrics),
            CostLedger(None if cap is None else cap / settings.replicas),
            order_of=settings.order_of,
            similarity_weight=settings.similarity_weight,
            window=settings.model_candidate_count,
            formula_alone_for_s=settings.pause_without_model_s,
        )
        service = served(RerankerServicer(reranker, settings.request_limits()))
        server = await stack.enter_async_context(
            running_server(
                [service],
                settings,
                metrics=metrics,
                certificates=mesh_certificates(settings, metrics),
            )
        )
        yield server


def configured_models(
    settings: RerankerSettings, metrics: Metrics
) -> Mapping[Implementation, PassageModel]:
    """Makes each model that the settings describe, whether or not it stands in the order.

    Nothing is sent or loaded before its first use.
    """
    models: dict[Implementation, PassageModel] = {}
    chain = configured_chain(settings, metrics)
    if chain is not None:
        models[Implementation.CHAT] = ListwiseChat(
            chain,
            passage_tokens=settings.chat_passage_tokens,
            spare_tokens=settings.chat_spare_tokens,
            check_interval_s=settings.chat_check_interval_s,
        )
    if settings.dialect is not None:
        models[Implementation.ENDPOINT] = endpoint_model(settings, metrics)
    if settings.folder_path is not None:
        models[Implementation.FOLDER] = FolderModel(
            CrossEncoder(
                settings.folder_path,
                input_tokens=settings.folder_input_tokens,
                batch_tokens=settings.folder_batch_tokens,
            )
        )
    return models


def endpoint_model(settings: RerankerSettings, metrics: Metrics) -> EndpointModel:
    """Makes the model behind the endpoint of the settings, which must name its kind."""
    dialect = settings.dialect
    assert dialect is not None
    base_url, path = base_and_path(settings.url, dialect.path)
    key = settings.key()
    headers = {}
    if key is not None:
        headers["authorization"] = SecretStr(f"Bearer {key.get_secret_value()}")
    limit = settings.endpoint_requests_per_minute
    client = VendorClient(
        VendorHttp(
            dialect.name,
            base_url,
            secret_headers=headers,
            settings=VendorHttpSettings(private_hosts=settings.private_providers),
        ),
        patience=_PATIENCE,
        breaker=breaker_metrics_of(metrics).watch(
            CircuitBreaker(dialect.name, on_change=_log_change)
        ),
        limiter=RateLimiter(
            requests_per_minute=None if limit is None else limit / settings.replicas
        ),
        judge=judged,
    )
    return EndpointModel(
        dialect,
        settings.endpoint_model,
        path,
        client,
        document_characters=settings.endpoint_document_characters,
    )


def _log_change(endpoint: str, old: BreakerState, new: BreakerState) -> None:
    _log.warning("endpoint state changed", endpoint=endpoint, old=old.value, new=new.value)
