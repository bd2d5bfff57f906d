"""The retriever as a running service, in its own process or inside of a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from chassis.background_task import background_task
from chassis.errors import FailedPrecondition
from chassis.mesh_identity import mesh_certificates
from chassis.metrics import process_metrics
from chassis.server import RunningServer, running_server
from chassis.signed_claims import SignedClaims
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.milvus.milvus_variables import Engine
from retriever_svc.servicer.claims import ClaimGuard
from retriever_svc.servicer.served import served_services
from retriever_svc.settings import RetrieverSettings
from retriever_svc.transfers.imports import Imports

if TYPE_CHECKING:
    from retriever_svc.milvus.milvus_engine import MilvusEngine


@asynccontextmanager
async def running_retriever(settings: RetrieverSettings) -> AsyncIterator[RunningServer]:
    """Opens the engine and serves it while inside.

    Raises FailedPrecondition if the data folder or the store cannot be used, Unavailable if the
    store does not answer, StartError if a port cannot be used.
    """
    guard = None
    if settings.claim_secret_file is not None:
        guard = ClaimGuard(SignedClaims(settings.claim_secret_file))
    engine = await asyncio.to_thread(_opened, settings)
    try:
        transfers = settings.transfer_limits()
        imports = Imports(engine, transfers)
        services = served_services(engine, settings.upload_limits(), imports, transfers)
        async with (
            background_task(imports.sweep_again_and_again()),
            running_server(
                services,
                settings,
                guard=guard,
                certificates=mesh_certificates(settings, process_metrics()),
            ) as server,
        ):
            yield server
    finally:
        await asyncio.to_thread(engine.close)


def _opened(settings: RetrieverSettings) -> "EmbeddedEngine | MilvusEngine":
    if settings.engine is Engine.EMBEDDED:
        return EmbeddedEngine(settings.embedded(), registry=process_metrics().registry)
    try:
        # Brought by an extra: nobody else pays for it.
        from retriever_svc.milvus.milvus_engine import MilvusEngine
    except ModuleNotFoundError as error:
        raise FailedPrecondition(
            f"the engine milvus needs the package {error.name}: pip install 'justesse[milvus]'",
            reason="EXTRA_MISSING",
        ) from error
    return MilvusEngine(settings.milvus(), registry=process_metrics().registry)
