"""Puts the gateway's query role together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

import structlog

from chassis.background_task import background_task
from chassis.binding import EXIT_CONFIG, StartError
from chassis.channel import open_channel
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import Metrics, process_metrics
from chassis.server import RunningServer, running_server
from chassis.shedding import Shedding
from gateway.access.access import Access
from gateway.access.addresses import bootstrap_key_of, trusted_mode
from gateway.access.claimed_actions import action_of_call
from gateway.access.key_ring import KeyRing
from gateway.access.key_store import DatabaseKeyStore
from gateway.access.keys import Keys
from gateway.admission.admission import Admission
from gateway.admission.admission_metrics import AdmissionMetrics, AdmissionSeries
from gateway.admission.bounded_calls import QUERY_METHODS
from gateway.answers.answer_metrics import AnswerMetrics
from gateway.answers.readiness import answer_models
from gateway.application import Application, Services, assembled
from gateway.clients.embedder import EmbedderClient
from gateway.clients.health import HealthClient
from gateway.clients.ingestion import IngestionClient
from gateway.clients.jobs import IDEMPOTENT_METHODS as IDEMPOTENT_JOB_METHODS
from gateway.clients.jobs import JobsClient
from gateway.clients.reembedding import ReembeddingClient
from gateway.clients.reranker import RerankerClient
from gateway.clients.retriever import IDEMPOTENT_METHODS, retriever_over
from gateway.clients.rewriter import RewriterClient
from gateway.database.database import Database
from gateway.edge import edge_certificates
from gateway.glossary.board import GlossaryBoard
from gateway.glossary.store import DatabaseGlossaryStore
from gateway.http.app import http_door
from gateway.http.server import running_http
from gateway.mesh import Mesh, WatchedService
from gateway.pace import Pace
from gateway.refreshing import repeated
from gateway.servicer.access import AccessGuard
from gateway.servicer.served import served_services
from gateway.settings import GatewaySettings
from gateway.stage_metrics import StageMetrics
from gateway.switches.announcements import asked, tells, told
from gateway.switches.board import SwitchBoard
from gateway.switches.database_rules import DatabaseRuleStore
from gateway.switches.switch_metrics import SwitchMetrics
from gateway.switches.switching import Switching
from gateway.switches.table import SwitchTable

_log = structlog.get_logger("gateway")

_DATABASE_TIMEOUT_S = 5.0

_RETRIED_METHODS = {
    "retriever": IDEMPOTENT_METHODS,
    "ingestion": IDEMPOTENT_JOB_METHODS,
}


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """A started gateway: its gRPC server, and the address of its HTTP door."""

    server: RunningServer
    http_address: str


@asynccontextmanager
async def running_gateway(
    settings: GatewaySettings, *, metrics: Metrics | None = None
) -> AsyncIterator[RunningGateway]:
    """Serves gRPC and HTTP while inside.

    Switches and glossaries are read before the first request; a database that is lost is no reason
    not to start. Raises StartError where a port is taken or a driver is not installed.
    """
    metrics = metrics or process_metrics()
    edge = edge_certificates(settings, metrics)
    async with AsyncExitStack() as stack:
        bootstrap = bootstrap_key_of(settings.bootstrap_key_file)
        database, board = await _database(settings.database_url, stack)
        switches = Switching(board, DatabaseRuleStore(database), SwitchMetrics(metrics.registry))
        glossaries = GlossaryBoard(DatabaseGlossaryStore(database))
        key_store = DatabaseKeyStore(database)
        ring = KeyRing(key_store, bootstrap, grace_s=settings.key_grace_s)
        await asyncio.gather(_first_refresh(switches), _first_reading(glossaries), ring.refresh())
        mode = await trusted_mode(settings, settings.access, ring)
        application = await _application(
            settings,
            switches,
            glossaries,
            Access(ring, mode),
            Keys(key_store, ring),
            metrics,
            stack,
        )
        reading_keys = repeated(ring.refresh, interval_s=settings.key_refresh_s)
        await stack.enter_async_context(background_task(reading_keys))
        for refresh in (switches.refresh, glossaries.refresh):
            repeating = repeated(refresh, interval_s=settings.switch_refresh_s)
            await stack.enter_async_context(background_task(repeating))
        asking = asked(switches, interval_s=settings.switch_poll_s)
        await stack.enter_async_context(background_task(asking))
        if tells(settings.database_url):
            listening = told(switches, settings.database_url)
            await stack.enter_async_context(background_task(listening))
        http_address = await stack.enter_async_context(
            running_http(
                http_door(application, metrics),
                settings.host,
                settings.http_port,
                # Callers have keys, or `trusted_mode` let nobody from elsewhere in.
                insecure=True,
                grace_s=settings.drain_grace_s,
                certificates=edge,
            )
        )
        server = await stack.enter_async_context(
            running_server(
                served_services(application),
                settings.model_copy(update={"insecure": True}),
                metrics=metrics,
                guard=AccessGuard(application.access),
                shedding=Shedding(application.floodgate, QUERY_METHODS),
                certificates=edge,
            )
        )
        yield RunningGateway(server, http_address)


async def _application(
    settings: GatewaySettings,
    switches: Switching,
    glossaries: GlossaryBoard,
    access: Access,
    keys: Keys,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> Application:
    targets = {
        "rewriter": (settings.rewriter_target, settings.rewriter_management_target),
        "embedder": (settings.embedder_target, settings.embedder_management_target),
        "retriever": (settings.retriever_target, settings.retriever_management_target),
        "reranker": (settings.reranker_target, settings.reranker_management_target),
        "ingestion": (settings.ingestion_target, settings.ingestion_management_target),
    }
    certificates = mesh_certificates(settings, metrics)
    channels = {
        name: await stack.enter_async_context(
            open_channel(
                target,
                # The others try their providers themselves: one layer of retries only.
                idempotent_methods=_RETRIED_METHODS.get(name, ()),
                metrics=metrics,
                certificates=certificates,
            )
        )
        for name, (target, _) in targets.items()
    }
    services = Services(
        rewriter=RewriterClient(channels["rewriter"]),
        embedder=EmbedderClient(channels["embedder"]),
        retriever=retriever_over(channels["retriever"], settings.claim_secret_file, action_of_call),
        reranker=RerankerClient(channels["reranker"]),
        ingestion=IngestionClient(channels["ingestion"]),
        jobs=JobsClient(channels["ingestion"]),
        reembedding=ReembeddingClient(channels["ingestion"]),
    )
    watched = [
        WatchedService(
            name,
            target,
            HealthClient(
                "ingestion role" if name == "ingestion" else name,
                await stack.enter_async_context(open_channel(management, metrics=metrics)),
            ),
        )
        for name, (target, management) in targets.items()
    ]
    models = await stack.enter_async_context(answer_models(settings, metrics))
    series = AdmissionSeries(metrics.registry)
    return assembled(
        services,
        switches,
        glossaries,
        Mesh(watched, services.embedder),
        access,
        keys,
        queries=Admission(settings.query_limits(), AdmissionMetrics(series, "queries")),
        ingestion=Admission(settings.ingestion_limits(), AdmissionMetrics(series, "ingestion")),
        answering=Admission(settings.answer_limits(), AdmissionMetrics(series, "answers")),
        models=models,
        unsupported=settings.unsupported_sentences,
        answer_metrics=AnswerMetrics(metrics.registry),
        strictness=settings.answer_evidence,
        vector_capacity=settings.vector_cache_capacity,
        vector_ttl_s=settings.vector_cache_ttl_s,
        max_file_bytes=settings.max_file_bytes,
        pace=Pace(settings.upload_idle_s, settings.upload_bytes_per_s),
        stage_metrics=StageMetrics(metrics.registry),
    )


async def _database(database_url: str, stack: AsyncExitStack) -> tuple[Database, SwitchBoard]:
    try:
        table = SwitchTable(database_url)
        database = Database(database_url, timeout_s=_DATABASE_TIMEOUT_S, pool_size=2)
    except ModuleNotFoundError as error:
        raise StartError(
            f"JUSTESSE_GATEWAY_DATABASE_URL asks for a driver that is not installed: {error.name}; "
            "install it or name another",
            exit_code=EXIT_CONFIG,
        ) from error
    stack.push_async_callback(database.close)
    return database, SwitchBoard(table)


async def _first_refresh(switches: Switching) -> None:
    state = await switches.refresh()
    if state.board.refresh_error:
        _log.warning("started with the default switches", error=state.board.refresh_error)


async def _first_reading(glossaries: GlossaryBoard) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_DATABASE_TIMEOUT_S):
            await glossaries.refresh()
