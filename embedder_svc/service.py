"""Puts the embedder together and keeps it running."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog

from chassis.background_task import background_task
from chassis.binding import EXIT_CONFIG, StartError
from chassis.breaker_metrics import BreakerMetrics, breaker_metrics_of
from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.cost_ledger import CostLedger
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import Metrics, process_metrics
from chassis.server import RunningServer, running_server
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import ChainLink
from embedder_svc.disk_state import DiskState
from embedder_svc.embedder import Embedder
from embedder_svc.providers.catalogue import configured_providers
from embedder_svc.providers.protocol import EmbeddingProvider, UnconfiguredProvider
from embedder_svc.servicer import SERVICE_NAME, served
from embedder_svc.settings import EmbedderSettings
from embedder_svc.usage import Usage, usage_of
from embedder_svc.vector_cache import VectorCache

_log = structlog.get_logger("embedder_svc.service")


@asynccontextmanager
async def running_embedder(
    settings: EmbedderSettings,
    *,
    providers: Sequence[EmbeddingProvider | UnconfiguredProvider] | None = None,
    metrics: Metrics | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves while inside; ready as soon as one provider has passed its check, or all have failed.

    `providers` stand in for those of the settings. All of them are closed at the end. Raises
    StartError where none of them is configured, or the data folder cannot be used.
    """
    metrics = metrics or process_metrics()
    async with AsyncExitStack() as stack:
        disk = None if settings.data_folder is None else DiskState(settings.data_folder)
        if disk is not None:
            stack.push_async_callback(asyncio.to_thread, disk.close)
        embedder = embedder_of(
            configured_providers(settings, lambda name: _breaker(name, settings, None))
            if providers is None
            else providers,
            settings,
            usage_of(metrics),
            disk,
            breaker_metrics_of(metrics),
        )
        _require_some(embedder)
        stack.push_async_callback(embedder.chain.close)
        server = await stack.enter_async_context(
            running_server(
                [served(embedder)],
                settings,
                metrics=metrics,
                certificates=mesh_certificates(settings, metrics),
            )
        )
        await stack.enter_async_context(
            background_task(_keep_checking(embedder.chain, server, settings.check_interval_s))
        )
        await stack.enter_async_context(
            background_task(_keep_tidy(embedder.cache, settings.check_interval_s))
        )
        yield server


def embedder_of(
    providers: Sequence[EmbeddingProvider | UnconfiguredProvider],
    settings: EmbedderSettings,
    usage: Usage,
    disk: DiskState | None = None,
    breakers: BreakerMetrics | None = None,
) -> Embedder:
    """Makes a chain of the providers, with one cache and one ledger for all."""
    cache = VectorCache(settings.cache_max_bytes, settings.cache_ttl_s, disk=disk)
    links = tuple(
        ChainLink(
            provider,
            _breaker(provider.name, settings, breakers),
            cache=cache,
            on_drift=partial(usage.count_drift_refusal, provider.name),
        )
        for provider in providers
        if not isinstance(provider, UnconfiguredProvider)
    )
    usage.watch(links)
    cap = settings.daily_cost_cap
    return Embedder(
        ProviderChain(links),
        tuple(
            (place, provider)
            for place, provider in enumerate(providers)
            if isinstance(provider, UnconfiguredProvider)
        ),
        usage,
        CostLedger(None if cap is None else cap / settings.replicas, kept=disk),
        cache,
    )


def _breaker(
    name: str, settings: EmbedderSettings, breakers: BreakerMetrics | None
) -> CircuitBreaker:
    breaker = CircuitBreaker(
        name,
        threshold=settings.breaker_threshold,
        open_s=settings.breaker_open_s,
        on_change=_log_change,
    )
    return breaker if breakers is None else breakers.watch(breaker)


def _require_some(embedder: Embedder) -> None:
    if not embedder.chain.links:
        lacking = "; ".join(f"{one.name}: {one.missing}" for _, one in embedder.unconfigured)
        raise StartError(
            f"no embedding provider is configured ({lacking}); set what is missing, or add "
            "'embedded', which needs nothing, to JUSTESSE_EMBEDDER_PROVIDERS",
            exit_code=EXIT_CONFIG,
        )


async def _keep_checking(chain: ProviderChain, server: RunningServer, interval_s: float) -> None:
    unchecked = set(chain.links)
    ready = False

    async def keep_checking(link: ChainLink) -> None:
        nonlocal ready
        while True:
            passed = await link.check()
            unchecked.discard(link)
            if not ready and (passed or not unchecked):
                # Stays so: where no provider answers, callers learn more from the error itself.
                ready = True
                server.set_serving(SERVICE_NAME, True)
                if not passed:
                    _log.error("no embedding provider answers; texts wait until one does")
            await asyncio.sleep(interval_s)

    # Apart from each other, so that a provider that hangs keeps no other one from being ready.
    async with asyncio.TaskGroup() as group:
        for link in chain.links:
            group.create_task(keep_checking(link))


async def _keep_tidy(cache: VectorCache, interval_s: float) -> None:
    while True:
        cache.drop_expired()
        await asyncio.sleep(interval_s)


def _log_change(provider: str, old: BreakerState, new: BreakerState) -> None:
    _log.warning("provider state changed", provider=provider, old=old.value, new=new.value)
