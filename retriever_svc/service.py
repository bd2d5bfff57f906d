"""The retriever as a running service, in its own process or inside of a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chassis.mesh_identity import mesh_certificates
from chassis.metrics import process_metrics
from chassis.server import RunningServer, running_server
from chassis.signed_claims import SignedClaims
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.servicer.claims import ClaimGuard
from retriever_svc.servicer.served import served_services
from retriever_svc.settings import RetrieverSettings


@asynccontextmanager
async def running_retriever(settings: RetrieverSettings) -> AsyncIterator[RunningServer]:
    """Opens the engine and serves it while inside.

    Raises FailedPrecondition if the data folder cannot be used, StartError if a port cannot.
    """
    guard = None
    if settings.claim_secret_file is not None:
        guard = ClaimGuard(SignedClaims(settings.claim_secret_file))
    engine = await asyncio.to_thread(
        EmbeddedEngine, settings.embedded(), registry=process_metrics().registry
    )
    try:
        services = served_services(engine, settings.upload_limits())
        async with running_server(
            services,
            settings,
            guard=guard,
            certificates=mesh_certificates(settings, process_metrics()),
        ) as server:
            yield server
    finally:
        await asyncio.to_thread(engine.close)
