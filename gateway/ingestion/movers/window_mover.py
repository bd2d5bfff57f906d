"""Brings windows to passages that were stored without them.

A document is findable as soon as its passages have vectors; their windows cost the embedder as much
again and only refine the order of what is found, so they follow when no file is being taken in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from chassis.errors import ServiceError
from gateway.ingestion.movers.mover_metrics import WindowMetrics
from gateway.ingestion.movers.space_filling import cut_again
from gateway.ingestion.movers.space_leases import SpaceBusy, leased
from gateway.ingestion.passage_store import PassageStore
from gateway.ingestion.passage_windows import PassageWindows
from gateway.spaces import AwaitingPage, PassageWindowsPut
from gateway.workspaces import Space, Workspace

_log = structlog.get_logger("gateway.ingestion.window_mover")

_READ_TIMEOUT_S = 30.0
_WRITE_TIMEOUT_S = 120.0
_QUIET_S = 1.0
_LOOK_S = 0.2
_LONGEST_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class WindowMover:
    """Looks through all workspaces, for one `holder` of leases, `batch_size` passages at a time.

    `uploads_idle_s` tells for how many seconds no file has been embedded. `settled` remembers the
    state, by workspace and space, in which nothing was awaited.
    """

    store: PassageStore
    windows: PassageWindows
    metrics: WindowMetrics
    holder: str
    batch_size: int = 4
    uploads_idle_s: Callable[[], float] = lambda: _QUIET_S
    settled: dict[tuple[str, str], int] = field(default_factory=dict)

    async def keep_moving(self, *, interval_s: float) -> None:
        """Looks again and again; a round that fails is told to the log."""
        while True:
            try:
                await self.move_all()
            except ServiceError as error:
                _log.info("no windows made", reason=error.reason, error=str(error))
            except Exception:
                _log.exception("window mover failed")
            await asyncio.sleep(interval_s)

    async def move_all(self) -> int:
        """Goes through all workspaces once; returns how many passages got their windows.

        Raises what the retriever raises when it is asked what there is.
        """
        moved = 0
        for workspace in await self.store.list_workspaces(timeout=_READ_TIMEOUT_S):
            for space in workspace.spaces:
                seen = self.settled.get((workspace.slug, space.space_id))
                if not space.resting and seen != workspace.applied_seq:
                    moved += await self._move(workspace, space)
        return moved

    async def _move(self, workspace: Workspace, space: Space) -> int:
        moved = 0
        try:
            if not await self.windows.wanted(space.space_id):
                return 0
            # A name of its own: the space may be filled meanwhile.
            async with leased(self.store, workspace.slug, f"{space.space_id}#windows", self.holder):
                page = await self._page(workspace, space, "")
                if not page.passages:
                    self.settled[workspace.slug, space.space_id] = workspace.applied_seq
                while page.passages:
                    moved += await self._bring(workspace, space, page)
                    if not page.next_page_token:
                        break
                    page = await self._page(workspace, space, page.next_page_token)
        except SpaceBusy:
            # Another replica of this role makes them.
            pass
        except ServiceError as error:
            self.metrics.failures.labels(error.reason).inc()
            _log.warning(
                "windows not made",
                workspace=workspace.slug,
                space_id=space.space_id,
                reason=error.reason,
                error=str(error),
            )
        if moved:
            _log.info(
                "windows made", workspace=workspace.slug, space_id=space.space_id, passages=moved
            )
        return moved

    async def _page(self, workspace: Workspace, space: Space, token: str) -> AwaitingPage:
        page = await self.store.list_passages_awaiting(
            workspace.slug,
            space.space_id,
            self.batch_size,
            token,
            windows=True,
            timeout=_READ_TIMEOUT_S,
        )
        if not token:
            self.metrics.awaiting.set(page.awaiting_passage_count)
        return page

    async def _bring(self, workspace: Workspace, space: Space, page: AwaitingPage) -> int:
        await self._let_uploads_go_first()
        made = await self.windows.of(
            [cut_again(one) for one in page.passages],
            space.space_id,
            workspace.slug,
            workspace.canaries,
        )
        put = PassageWindowsPut(
            space.space_id, space.dimension, page.passages, made.counts, made.vectors
        )
        stored = await self.store.put_windows(workspace.slug, put, timeout=_WRITE_TIMEOUT_S)
        self.metrics.made.inc(stored.stored_count)
        self.metrics.incomplete.inc(made.incomplete_count)
        self.metrics.awaiting.dec(len(page.passages))
        return stored.stored_count

    async def _let_uploads_go_first(self) -> None:
        waited = 0.0
        while self.uploads_idle_s() < _QUIET_S and waited < _LONGEST_WAIT_S:
            await asyncio.sleep(_LOOK_S)
            waited += _LOOK_S
