"""Leases of the work on a space, by the clock of the database: one holder, whichever replica."""

from datetime import timedelta

from sqlalchemy import Connection, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from chassis.errors import FailedPrecondition
from retriever_svc.milvus.store.layout import LEASES
from retriever_svc.spaces import SpaceLease


def lease(
    connection: Connection, workspace_id: int, space_id: str, holder: str, duration_s: float
) -> SpaceLease:
    """Grants or prolongs the lease, or gives it back where `duration_s` is 0."""
    now = func.clock_timestamp()
    place = (LEASES.c.workspace_id == workspace_id, LEASES.c.space_id == space_id)
    if duration_s <= 0:
        connection.execute(delete(LEASES).where(*place, LEASES.c.holder == holder))
    else:
        until = now + timedelta(seconds=duration_s)
        wanted = insert(LEASES).values(
            workspace_id=workspace_id, space_id=space_id, holder=holder, until=until
        )
        granted = connection.execute(
            wanted.on_conflict_do_update(
                index_elements=[LEASES.c.workspace_id, LEASES.c.space_id],
                set_={"holder": holder, "until": until},
                where=or_(LEASES.c.holder == holder, LEASES.c.until <= now),
            ).returning(LEASES.c.holder)
        ).first()
        if granted is not None:
            return SpaceLease(granted=True, remaining_s=duration_s)
    left = func.extract("epoch", LEASES.c.until - now)
    remaining = connection.execute(select(left).where(*place)).scalar_one_or_none()
    return SpaceLease(granted=False, remaining_s=max(0.0, float(remaining or 0.0)))


def require(
    connection: Connection, workspace_id: int, workspace: str, space_id: str, holder: str
) -> None:
    """Raises FailedPrecondition unless the holder has the lease."""
    held = connection.execute(
        select(LEASES.c.holder).where(
            LEASES.c.workspace_id == workspace_id,
            LEASES.c.space_id == space_id,
            LEASES.c.until > func.clock_timestamp(),
        )
    ).scalar_one_or_none()
    if held != holder:
        raise FailedPrecondition(
            f"{holder!r} does not hold the lease of space {space_id!r} of workspace "
            f"{workspace!r}; lease it, then list what the space still lacks",
            reason="LEASE_NOT_HELD",
        )
