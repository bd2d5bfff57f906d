"""Puts the ingestion role together and keeps it running."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from uuid import uuid4

from chassis.background_task import background_task
from chassis.channel import open_channel
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import Metrics, process_metrics
from chassis.server import RunningServer, running_server
from gateway.access.claimed_actions import action_of_ingestion
from gateway.clients.embedder import EmbedderClient
from gateway.clients.retriever import retriever_over
from gateway.embedding import Provider
from gateway.ingestion.embedding_calls import EmbeddingCalls
from gateway.ingestion.movers.mover import Mover
from gateway.ingestion.movers.mover_metrics import mover_metrics_of, window_metrics_of
from gateway.ingestion.movers.space_filling import SpaceFilling
from gateway.ingestion.movers.window_mover import WindowMover
from gateway.ingestion.passage_store import PassageStore
from gateway.ingestion.passage_vectors import PassageVectors
from gateway.ingestion.passage_windows import PassageWindows, WindowChoice
from gateway.ingestion.reembedding.workspace_reembedding import WorkspaceReembedding
from gateway.ingestion.running_jobs import running_jobs
from gateway.ingestion.servicer import served, served_spaces
from gateway.ingestion.settings import IngestionSettings
from gateway.ports import Embedder
from gateway.space_work import SpaceWork

_EMBEDDER_METHODS = (
    "justesse.embedder.v1.EmbedderService/EmbedTexts",
    "justesse.embedder.v1.EmbedderService/DescribeProviders",
)
_WINDOW_CALL_TOKENS = 1_000
"""Few enough that a file that comes meanwhile hardly waits."""

_RETRIEVER_METHODS = (
    "justesse.retriever.v1.WorkspaceService/DescribeWorkspace",
    "justesse.retriever.v1.DocumentService/GetDocument",
    # Repeating these changes nothing.
    "justesse.retriever.v1.SpaceService/ListPassagesAwaiting",
    "justesse.retriever.v1.SpaceService/LeaseSpace",
    "justesse.retriever.v1.SpaceService/PutVectors",
    "justesse.retriever.v1.SpaceService/PutWindows",
)


@asynccontextmanager
async def running_ingestion(
    settings: IngestionSettings,
    *,
    embedder: Embedder | None = None,
    store: PassageStore | None = None,
    metrics: Metrics | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves while inside; `embedder` and `store` stand in for the services of the settings."""
    metrics = metrics or process_metrics()
    certificates = mesh_certificates(settings, metrics)
    async with AsyncExitStack() as stack:
        if embedder is None:
            channel = open_channel(
                settings.embedder_target,
                idempotent_methods=_EMBEDDER_METHODS,
                metrics=metrics,
                certificates=certificates,
            )
            embedder = EmbedderClient(await stack.enter_async_context(channel))
        if store is None:
            channel = open_channel(
                settings.retriever_target,
                idempotent_methods=_RETRIEVER_METHODS,
                metrics=metrics,
                certificates=certificates,
            )
            store = retriever_over(
                await stack.enter_async_context(channel),
                settings.claim_secret_file,
                action_of_ingestion,
            )
        calls = EmbeddingCalls(embedder, settings.batch_limits())
        queued = await stack.enter_async_context(
            running_jobs(settings, embedder, calls, store, metrics=metrics)
        )
        services = served(queued, max_file_bytes=settings.max_file_bytes)
        reembedding = reembedding_of(settings, embedder, store)
        services.append(served_spaces(SpaceWork(reembedding, store)))
        server = await stack.enter_async_context(
            running_server(services, settings, metrics=metrics, certificates=certificates)
        )
        filling = filling_of(settings, embedder, store)
        mover = Mover(store, embedder, filling, mover_metrics_of(metrics), lambda: calls.busy)
        windows = window_mover_of(settings, embedder, store, metrics, lambda: calls.idle_s)
        for keep_moving in (mover.keep_moving, windows.keep_moving):
            await stack.enter_async_context(
                background_task(keep_moving(interval_s=settings.mover_interval_s))
            )
        yield server


def filling_of(
    settings: IngestionSettings, embedder: Embedder, store: PassageStore
) -> SpaceFilling:
    """Returns what fills spaces: one call of the embedder at a time, whatever uploads do."""
    limits = replace(settings.batch_limits(), calls=1)
    calls = EmbeddingCalls(embedder, limits)
    return SpaceFilling(
        store,
        PassageVectors(calls),
        PassageWindows(calls, settings.windows),
        holder=f"ingestion-{uuid4()}",
        batch_size=limits.texts,
    )


def window_mover_of(
    settings: IngestionSettings,
    embedder: Embedder,
    store: PassageStore,
    metrics: Metrics,
    uploads_idle_s: Callable[[], float],
) -> WindowMover:
    """Returns what brings windows afterwards: short calls, one at a time, behind all uploads."""
    limits = replace(settings.batch_limits(), calls=1, tokens=_WINDOW_CALL_TOKENS)
    return WindowMover(
        store,
        PassageWindows(EmbeddingCalls(embedder, limits), settings.windows),
        window_metrics_of(metrics),
        holder=f"ingestion-{uuid4()}",
        uploads_idle_s=uploads_idle_s,
    )


def reembedding_of(
    settings: IngestionSettings, embedder: Embedder, store: PassageStore
) -> WorkspaceReembedding:
    """Returns what embeds workspaces again."""

    def windowed(provider: Provider) -> bool:
        if settings.windows is WindowChoice.AUTO:
            return provider.windows_recommended
        return settings.windows is WindowChoice.ALWAYS

    return WorkspaceReembedding(
        store, embedder, lambda: filling_of(settings, embedder, store), windowed
    )
