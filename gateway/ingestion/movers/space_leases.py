"""Holds the lease of the work on a space for as long as the work lasts.

A lease is short, so that a killed holder keeps nobody waiting, and is prolonged meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from chassis.background_task import background_task
from chassis.errors import FailedPrecondition, ServiceError
from gateway.ports import SpaceStore

LEASE_S = 30.0
_RENEWAL_S = 10.0
_TIMEOUT_S = 5.0


class SpaceBusy(FailedPrecondition):
    """Somebody else works on the space; their lease runs out in `remaining_s` seconds."""

    default_reason = "SPACE_BUSY"

    def __init__(self, message: str, remaining_s: float) -> None:
        super().__init__(message)
        self.remaining_s = remaining_s


@asynccontextmanager
async def leased(
    store: SpaceStore,
    workspace: str,
    space_id: str,
    holder: str,
    *,
    renewal_s: float = _RENEWAL_S,
) -> AsyncIterator[None]:
    """Holds the lease while inside, prolonging it every `renewal_s` seconds.

    Raises SpaceBusy where somebody else has it.
    """
    lease = await store.lease_space(workspace, space_id, holder, LEASE_S, timeout=_TIMEOUT_S)
    if not lease.granted:
        raise SpaceBusy(
            f"somebody else is filling space {space_id} of workspace {workspace}; "
            f"try again in {lease.remaining_s:.0f} s",
            lease.remaining_s,
        )
    try:
        async with background_task(_renew(store, workspace, space_id, holder, renewal_s)):
            yield
    finally:
        # One that cannot be given back runs out.
        with suppress(ServiceError):
            await store.lease_space(workspace, space_id, holder, 0.0, timeout=_TIMEOUT_S)


async def _renew(
    store: SpaceStore, workspace: str, space_id: str, holder: str, renewal_s: float
) -> None:
    while True:
        await asyncio.sleep(renewal_s)
        # A lease that was lost meanwhile is noticed when vectors are put.
        with suppress(ServiceError):
            await store.lease_space(workspace, space_id, holder, LEASE_S, timeout=_TIMEOUT_S)
