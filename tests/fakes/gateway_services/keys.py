"""API keys in memory, and a ring over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from chassis.errors import ServiceError, Unavailable
from gateway.access.access import Access
from gateway.access.api_key import ApiKey, new_api_key
from gateway.access.grants import EVERY_WORKSPACE, Action, Grant, Grants
from gateway.access.key_record import KeyRecord
from gateway.access.key_ring import KeyRing
from gateway.access.keys import Keys
from gateway.filters import Filter

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@dataclass
class FakeKeyStore:
    """Holds keys by prefix. While `lost`, every call fails; `readings` counts the others."""

    records: dict[str, KeyRecord] = field(default_factory=dict)
    lost: bool = False
    readings: int = 0
    on_reading: Callable[[], None] = lambda: None

    def give(
        self, *grants: Grant, name: str = "test", expire_time: datetime | None = None
    ) -> ApiKey:
        """Keeps a new key with these grants, as another replica would."""
        key = new_api_key()
        self.records[key.prefix] = KeyRecord(
            key.prefix, name, key.digest, Grants.of_all(*grants), NOW, expire_time
        )
        return key

    def end(self, key: ApiKey) -> None:
        """Revokes a key, as another replica would."""
        self.records[key.prefix] = replace(self.records[key.prefix], revoke_time=NOW)

    async def read_valid(self, now: datetime) -> tuple[bool, Sequence[KeyRecord]]:
        """Implements the store."""
        self._meet()
        self.readings += 1
        self.on_reading()
        return bool(self.records), [r for r in self.records.values() if r.valid_at(now)]

    async def read_all(self) -> Sequence[KeyRecord]:
        """Implements the store."""
        self._meet()
        return sorted(self.records.values(), key=lambda r: (-r.create_time.timestamp(), r.prefix))

    async def add(self, record: KeyRecord) -> None:
        """Implements the store."""
        self._meet()
        self.records[record.prefix] = record

    async def revoke(self, prefix: str, now: datetime) -> KeyRecord | None:
        """Implements the store."""
        self._meet()
        record = self.records.get(prefix)
        if record is not None and record.revoke_time is None:
            self.records[prefix] = replace(record, revoke_time=now)
        return self.records.get(prefix)

    def _meet(self) -> None:
        if self.lost:
            raise _lost()


def grant(workspace: str, *actions: Action, only: Filter | None = None) -> Grant:
    """Returns a grant."""
    return Grant(workspace, frozenset(actions), only)


def open_access() -> tuple[Access, Keys]:
    """Returns an access that admits everybody, and keys that nobody needs."""
    store = FakeKeyStore()
    return Access(None), Keys(store, KeyRing(store))


EVERYTHING_GRANT = grant(EVERY_WORKSPACE, Action.ADMIN)


def _lost() -> ServiceError:
    return Unavailable("the gateway's database is lost: it is away", reason="DATABASE_LOST")
