"""Brings passages to the preferred space of their workspace once its provider is back.

Passages that were taken in during an outage lie in another space, or in none. They are moved in
the background: a batch at a time, behind the files that are being taken in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from chassis.errors import ServiceError
from gateway.embedding import Provider, ProviderState
from gateway.ingestion.movers.mover_metrics import MoverMetrics
from gateway.ingestion.movers.space_filling import SpaceFilling
from gateway.ingestion.movers.space_leases import SpaceBusy
from gateway.ingestion.passage_store import PassageStore
from gateway.ports import Embedder
from gateway.workspaces import Workspace

_log = structlog.get_logger("gateway.ingestion.mover")

_TIMEOUT_S = 10.0
_YIELD_S = 0.05
_LONGEST_YIELD_S = 5.0


@dataclass(frozen=True, slots=True)
class Mover:
    """Looks through all workspaces and moves what can be moved.

    `uploads_busy` tells whether files wait for the embedder: a batch lets them go first, for a
    while.
    """

    store: PassageStore
    embedder: Embedder
    filling: SpaceFilling
    metrics: MoverMetrics
    uploads_busy: Callable[[], bool] = lambda: False

    async def keep_moving(self, *, interval_s: float) -> None:
        """Looks again and again; a round that fails is told to the log and the metrics."""
        while True:
            try:
                await self.move_all()
            except ServiceError as error:
                _log.info("nothing moved", reason=error.reason, error=str(error))
            except Exception:
                _log.exception("mover failed")
            await asyncio.sleep(interval_s)

    async def move_all(self) -> int:
        """Goes through all workspaces once; returns how many passages were moved.

        Raises what the retriever and the embedder raise when they are asked what there is.
        """
        found = await self.store.list_workspaces(timeout=_TIMEOUT_S)
        lacking = [workspace for workspace in found if workspace.awaiting_passage_count]
        self.metrics.awaiting.set(sum(one.awaiting_passage_count for one in lacking))
        if not lacking:
            return 0
        providers = await self.embedder.describe_providers(timeout=_TIMEOUT_S)
        moved = 0
        for workspace in lacking:
            space_id = _target(workspace, providers)
            if space_id:
                moved += await self._move(workspace, space_id)
        return moved

    async def _move(self, workspace: Workspace, space_id: str) -> int:
        moved = refused = 0
        try:
            async with aclosing(
                self.filling.fill(workspace, space_id, leave_others=True)
            ) as batches:
                async for batch in batches:
                    moved += batch.stored_count
                    refused += batch.refused_count
                    self.metrics.moved.inc(batch.stored_count)
                    self.metrics.awaiting.dec(batch.stored_count + batch.outdated_count)
                    await self._let_uploads_go_first()
        except SpaceBusy:
            # Another replica of this role moves them.
            pass
        except ServiceError as error:
            self.metrics.failures.labels(error.reason).inc()
            _log.warning(
                "passages not moved",
                workspace=workspace.slug,
                space_id=space_id,
                reason=error.reason,
                error=str(error),
            )
        self.metrics.refused.inc(refused)
        if moved or refused:
            _log.info(
                "passages moved",
                workspace=workspace.slug,
                space_id=space_id,
                moved=moved,
                refused=refused,
            )
        return moved

    async def _let_uploads_go_first(self) -> None:
        waited = 0.0
        while self.uploads_busy() and waited < _LONGEST_YIELD_S:
            await asyncio.sleep(_YIELD_S)
            waited += _YIELD_S


def _target(workspace: Workspace, providers: Sequence[Provider]) -> str:
    """Returns the space to fill, empty where its provider does not answer.

    A workspace that prefers none yet gets that of the first provider that does.
    """
    for provider in providers:
        wanted = workspace.preferred_space_id in ("", provider.space_id)
        if wanted and provider.state is ProviderState.AVAILABLE:
            return provider.space_id
    return ""
