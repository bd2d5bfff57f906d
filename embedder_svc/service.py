"""Puts the embedder together and keeps it running."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import structlog

from chassis.circuit_breaker import BreakerState, CircuitBreaker
from chassis.metrics import Metrics, process_metrics
from chassis.server import RunningServer, running_server
from embedder_svc.chain import ProviderChain
from embedder_svc.chain_link import ChainLink
from embedder_svc.embedder import Embedder
from embedder_svc.providers.catalogue import configured_providers
from embedder_svc.providers.protocol import EmbeddingProvider
from embedder_svc.servicer import SERVICE_NAME, served
from embedder_svc.settings import EmbedderSettings
from embedder_svc.token_usage import token_usage

_log = structlog.get_logger("embedder_svc.service")


@asynccontextmanager
async def running_embedder(
    settings: EmbedderSettings,
    *,
    providers: Sequence[EmbeddingProvider] | None = None,
    metrics: Metrics | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves while inside; ready as soon as one provider has passed its check.

    `providers` stand in for those of the settings. All of them are closed at the end.
    """
    metrics = metrics or process_metrics()
    chain = chain_of(configured_providers(settings) if providers is None else providers, settings)
    embedder = Embedder(chain, token_usage(metrics))
    try:
        async with running_server([served(embedder)], settings, metrics=metrics) as server:
            checks = asyncio.create_task(_keep_checking(chain, server, settings.check_interval_s))
            try:
                yield server
            finally:
                checks.cancel()
                with suppress(asyncio.CancelledError):
                    await checks
    finally:
        await chain.close()


def chain_of(providers: Sequence[EmbeddingProvider], settings: EmbedderSettings) -> ProviderChain:
    """Gives every provider its breaker."""
    return ProviderChain(
        tuple(
            ChainLink(
                provider,
                CircuitBreaker(
                    provider.name,
                    threshold=settings.breaker_threshold,
                    open_s=settings.breaker_open_s,
                    on_change=_log_change,
                ),
            )
            for provider in providers
        )
    )


async def _keep_checking(chain: ProviderChain, server: RunningServer, interval_s: float) -> None:
    while True:
        if await chain.check():
            # Stays so: when all providers fail later, callers learn more from the error itself.
            server.set_serving(SERVICE_NAME, True)
        await asyncio.sleep(interval_s)


def _log_change(provider: str, old: BreakerState, new: BreakerState) -> None:
    _log.warning("provider state changed", provider=provider, old=old.value, new=new.value)
