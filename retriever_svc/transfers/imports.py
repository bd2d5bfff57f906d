"""Builds imported workspaces aside, and shows each of them whole or not at all."""

import asyncio
import re
import uuid
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from chassis.background_task import background_task
from chassis.errors import AlreadyExists, InvalidArgument, NotFound, ServiceError
from retriever_svc.documents import DocumentUpsert, UpsertOutcome, UpsertReceipt
from retriever_svc.engine import RetrievalEngine
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.transfers.turns import Turns
from retriever_svc.transfers.workspace_copy import WorkspaceHead

_log = structlog.get_logger("retriever.imports")

# No slug that anybody can give to a workspace.
_ASIDE = re.compile(r"~import-[0-9a-f]{32}")
_LEASED = "import"
_LEASE_S = 90.0
_RENEWAL_S = 20.0
_SWEEP_PAUSE_S = 60.0


def is_aside(slug: str) -> bool:
    """Whether a workspace is one that is being built, which nobody is to see."""
    return _ASIDE.fullmatch(slug) is not None


class Building:
    """A workspace that is being built aside."""

    def __init__(self, engine: RetrievalEngine, aside: str, limits: TransferLimits) -> None:
        self.aside = aside
        """Its slug until it is shown."""
        self._engine = engine
        self._limits = limits
        self._waiting: deque[tuple[asyncio.Task[UpsertReceipt], str, int]] = deque()
        self._waiting_bytes = 0

    async def add(self, document: DocumentUpsert, size: int) -> None:
        """Stores a document that came in records of `size` bytes; may return before it is stored.

        Raises what storing this document or one before it raises, InvalidArgument for one that is
        there already.
        """
        while self._waiting and (
            len(self._waiting) >= self._limits.changes_at_once
            or self._waiting_bytes + size > self._limits.waiting_bytes
        ):
            await self._settle_one()
        task = asyncio.create_task(self._engine.upsert_document(document))
        self._waiting.append((task, document.document.external_id, size))
        self._waiting_bytes += size

    async def settle(self) -> None:
        """Waits until all documents are stored. Raises as `add`."""
        while self._waiting:
            await self._settle_one()

    async def abandon(self) -> None:
        """Waits until nothing is stored any more, whatever comes of it."""
        tasks = [task for task, _, _ in self._waiting]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _settle_one(self) -> None:
        task, external_id, size = self._waiting[0]
        # What is being stored goes on: whoever gives up waits for it in `abandon`.
        receipt = await asyncio.shield(task)
        self._waiting.popleft()
        self._waiting_bytes -= size
        if receipt.outcome is not UpsertOutcome.CREATED:
            raise InvalidArgument(
                f"document {external_id!r} comes twice; a workspace holds it once",
                reason="ARCHIVE_DAMAGED",
            )


class Imports:
    """Used by one event loop; other processes may import into the same store."""

    def __init__(self, engine: RetrievalEngine, limits: TransferLimits) -> None:
        self._engine = engine
        self._limits = limits
        self._turns = Turns(limits.imports_at_once, "imports")
        self._identity = uuid.uuid4().hex

    @asynccontextmanager
    async def building(self, slug: str, head: WorkspaceHead) -> AsyncIterator[Building]:
        """Yields a workspace to be filled, which is shown as `slug` at the end.

        After any error, and when the caller is gone, it is deleted instead. Raises AlreadyExists,
        ResourceExhausted where enough are being built.
        """
        with self._turns.taken():
            await self._require_free(slug)
            aside = f"~import-{uuid.uuid4().hex}"
            await self._engine.create_workspace(aside, head.settings)
            building = Building(self._engine, aside, self._limits)
            try:
                await self._hold(aside, self._identity)
                async with background_task(self._go_on_holding(aside)):
                    yield building
                    await building.settle()
                    if head.preferred_space_id:
                        await self._engine.switch_space(
                            aside, head.preferred_space_id, require_complete=False
                        )
                    await self._engine.rename_workspace(aside, slug)
            except BaseException:
                # To its end, though the caller be gone.
                await asyncio.shield(asyncio.create_task(self._discard(building)))
                raise

    async def sweep(self) -> None:
        """Deletes what imports of processes that are gone have left."""
        for workspace in await self._engine.list_workspaces():
            if is_aside(workspace.slug) and await self._hold(workspace.slug, uuid.uuid4().hex):
                _log.info("the rest of an import is deleted", workspace=workspace.slug)
                await self._delete(workspace.slug)

    async def sweep_again_and_again(self) -> None:
        """Sweeps for ever; what cannot be swept now is swept later."""
        while True:
            try:
                await self.sweep()
            except ServiceError as error:
                _log.warning("the rests of imports stay for now", error=str(error))
            await asyncio.sleep(_SWEEP_PAUSE_S)

    async def _require_free(self, slug: str) -> None:
        try:
            await self._engine.describe_workspace(slug)
        except NotFound:
            return
        raise AlreadyExists(
            f"workspace {slug!r} exists; import under another slug, or delete it first",
            reason="WORKSPACE_EXISTS",
        )

    async def _hold(self, aside: str, holder: str) -> bool:
        """Holds the lease that says whose work a workspace aside is; others leave it alone then."""
        try:
            lease = await self._engine.lease_space(aside, _LEASED, holder, _LEASE_S)
        except NotFound:
            return False
        return lease.granted

    async def _go_on_holding(self, aside: str) -> None:
        while True:
            await asyncio.sleep(_RENEWAL_S)
            try:
                await self._hold(aside, self._identity)
            except ServiceError as error:
                _log.warning("an import could not prolong its lease", error=str(error))

    async def _discard(self, building: Building) -> None:
        await building.abandon()
        try:
            await self._delete(building.aside)
        except ServiceError as error:
            # Nobody sees it, and a sweep comes by.
            _log.warning("the rest of an import stays for now", error=str(error))

    async def _delete(self, aside: str) -> None:
        try:
            await self._engine.delete_workspace(aside)
        except NotFound:
            _log.info("the rest of an import is gone already", workspace=aside)
