"""Named leases: one process at a time does what a name stands for."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import or_, select, update
from sqlalchemy.exc import IntegrityError

from chassis.clock import Clock, wall
from gateway.database.database import Database
from gateway.database.tables import LEASES


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that was got; `token` grows with every change of hands and fences older holders."""

    name: str
    holder: str
    token: int


class NamedLeases:
    """Leases by name, such as `moving/<workspace>`; at most 255 characters."""

    def __init__(self, database: Database, *, clock: Clock = wall) -> None:
        self._database = database
        self._clock = clock

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Takes a lease for some seconds; None while somebody else holds it.

        A holder that acquires its own lease again gets it under a new token.
        """
        now_ms = self._now_ms()
        until_ms = now_ms + round(seconds * 1e3)
        async with self._database.transaction() as connection:
            taken = await connection.execute(
                update(LEASES)
                .where(
                    LEASES.c.name == name,
                    or_(LEASES.c.until_ms < now_ms, LEASES.c.holder == holder),
                )
                .values(holder=holder, token=LEASES.c.token + 1, until_ms=until_ms)
            )
            found = (
                await connection.execute(select(LEASES).where(LEASES.c.name == name))
            ).one_or_none()
            if found is not None:
                return Lease(name, holder, found.token) if taken.rowcount else None
            try:
                async with connection.begin_nested():
                    await connection.execute(
                        LEASES.insert().values(name=name, holder=holder, token=1, until_ms=until_ms)
                    )
            except IntegrityError:
                # Somebody else was first.
                return None
        return Lease(name, holder, 1)

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """Holds a lease for some seconds more, from now; False where it was lost."""
        until_ms = self._now_ms() + round(seconds * 1e3)
        return await self._changed(lease, until_ms)

    async def release(self, lease: Lease) -> None:
        """Gives a lease up at once; one that was lost stays with who has it."""
        await self._changed(lease, 0)

    async def _changed(self, lease: Lease, until_ms: int) -> bool:
        async with self._database.transaction() as connection:
            changed = await connection.execute(
                update(LEASES)
                .where(LEASES.c.name == lease.name, LEASES.c.token == lease.token)
                .values(until_ms=until_ms)
            )
            return bool(changed.rowcount)

    def _now_ms(self) -> int:
        return round(self._clock() * 1e3)
