"""The valid keys in memory: who presents one is known without asking the database.

What the database says is read again and again, so that a key that was revoked anywhere ends here
within the interval. A key that is not known makes it read at once, though not more often than
every `pause_s`: so a key made on another replica works here immediately, and guessing does not
press the database. An unknown key and a wrong secret take the same way and the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import structlog

from chassis.clock import Clock, Sleep, monotonic, sleep
from chassis.errors import ServiceError, Unauthenticated, Unavailable
from gateway.access.api_key import ApiKey, same_digest
from gateway.access.bootstrap_key import BootstrapKey
from gateway.access.key_record import KeyRecord
from gateway.access.key_store import KeyStore
from gateway.access.running_calls import RunningCalls

GRACE_S = 300.0
PAUSE_S = 0.5
_NO_DIGEST = "0" * 64

_log = structlog.get_logger("gateway.access")


def utc_now() -> datetime:
    """Returns the present moment."""
    return datetime.now(UTC)


class KeyRing:
    """Knows the valid keys, and ends the calls of those that are valid no more.

    Where the database is lost, known keys stay valid for `grace_s` seconds after it was last read.
    """

    def __init__(
        self,
        store: KeyStore,
        bootstrap: BootstrapKey | None = None,
        *,
        grace_s: float = GRACE_S,
        pause_s: float = PAUSE_S,
        clock: Clock = monotonic,
        sleep: Sleep = sleep,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.running = RunningCalls()
        self._store = store
        self._bootstrap = bootstrap
        self._grace_s = grace_s
        self._pause_s = pause_s
        self._clock = clock
        self._sleep = sleep
        self._now = now
        self._valid: Mapping[str, KeyRecord] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._lost = False
        self._ever = bootstrap is not None
        self._reading = asyncio.Lock()

    @property
    def bootstrap_record(self) -> KeyRecord | None:
        """The key of the bootstrap file; None where there is none now."""
        return None if self._bootstrap is None else self._bootstrap.record

    @property
    def known_empty(self) -> bool:
        """Whether the database was read and there never was a key."""
        return self._read_at is not None and not self._ever

    async def any_ever(self) -> bool:
        """Whether there ever was a key; Unavailable until the database was read once."""
        if not self._ever and self._read_at is None:
            await self._read_soon()
            if self._lost:
                raise _unread()
        return self._ever

    async def record_of(self, key: ApiKey) -> KeyRecord:
        """Returns the record of a valid key.

        Unauthenticated where it is not one. Unavailable where the database is lost and the key not
        known, or not heard of for too long.
        """
        record = self._fitting(key)
        if record is None or not self._trusted(record):
            await self._read_soon()
            record = self._fitting(key)
        if record is not None and self._trusted(record):
            return record
        if self._lost:
            raise _unread()
        raise Unauthenticated(
            "the API key is not valid: unknown, expired or revoked", reason="KEY_NOT_VALID"
        )

    async def refresh(self) -> None:
        """Reads what is valid; a database that cannot be read is no error."""
        async with self._reading:
            await self._read()

    async def _read_soon(self) -> None:
        """Waits for a reading that begins from now on, at the pace that is kept."""
        asked_at = self._clock()
        async with self._reading:
            if self._tried_at is not None and self._tried_at > asked_at:
                return
            if self._tried_at is not None:
                pause_s = self._tried_at + self._pause_s - self._clock()
                if pause_s > 0:
                    await self._sleep(pause_s)
            await self._read()

    async def _read(self) -> None:
        started = self._tried_at = self._clock()
        if self._bootstrap is not None:
            await asyncio.to_thread(self._bootstrap.refresh)
        try:
            ever, records = await self._store.read_valid(self._now())
        except ServiceError as error:
            if not self._lost:
                _log.warning("keys not read; the known ones stay for a while", error=str(error))
            self._lost = True
        else:
            self._ever |= ever
            self._valid = {record.prefix: record for record in records}
            self._read_at = started
            self._lost = False
        self.running.keep_only({r.prefix for r in self._known() if self._trusted(r)})

    def _known(self) -> list[KeyRecord]:
        first = self.bootstrap_record
        return [*self._valid.values(), *(() if first is None else (first,))]

    def _fitting(self, key: ApiKey) -> KeyRecord | None:
        record = self._valid.get(key.prefix)
        first = self.bootstrap_record
        if first is not None and first.prefix == key.prefix:
            record = first
        fits = same_digest(key.digest, _NO_DIGEST if record is None else record.digest)
        return record if fits else None

    def _trusted(self, record: KeyRecord) -> bool:
        if not record.valid_at(self._now()):
            return False
        if record is self.bootstrap_record:
            return True
        return self._read_at is not None and self._clock() - self._read_at <= self._grace_s


def _unread() -> Unavailable:
    return Unavailable(
        "API keys cannot be checked: the gateway's database does not answer; try again later",
        retry_after_s=5.0,
        reason="KEYS_UNREAD",
    )
