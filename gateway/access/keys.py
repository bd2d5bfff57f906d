"""Making, listing and revoking keys, for whichever door asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson
import structlog

from chassis.errors import FailedPrecondition, FieldViolation, InvalidArgument, NotFound
from gateway.access.api_key import ApiKey, is_prefix, new_api_key
from gateway.access.grant_columns import to_grants_column
from gateway.access.grant_filters import grant_filter_violations
from gateway.access.grants import EVERY_WORKSPACE, Grant, Grants
from gateway.access.identity import current_actor
from gateway.access.key_record import KeyRecord
from gateway.access.key_ring import KeyRing, utc_now
from gateway.access.key_store import KeyStore
from gateway.validation import is_slug

MAX_NAME_LENGTH = 100
MAX_GRANTS = 100
MAX_GRANTS_BYTES = 64 * 1024
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)

_log = structlog.get_logger("gateway.access")


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key; only its record is kept, so `key` is shown now or never."""

    key: ApiKey
    record: KeyRecord


class Keys:
    """Keeps keys in the database, and the ring of this replica true to it."""

    def __init__(
        self, store: KeyStore, ring: KeyRing, *, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._store = store
        self._ring = ring
        self._now = now

    async def create(
        self, name: str, grants: Sequence[Grant], expire_time: datetime | None = None
    ) -> CreatedKey:
        """Makes a key that is valid at once, here and, when it is first used, everywhere.

        InvalidArgument: name, grants or expiry. FailedPrecondition: the first key of all grants
        less than everything, which would lock everybody out. Unavailable: the database is lost.
        """
        now = self._now()
        violations = [*_violations(name, grants), *_expiry_violations(expire_time, now)]
        if violations:
            raise InvalidArgument(
                "; ".join(v.description for v in violations), violations=violations
            )
        granted = Grants.of_all(*grants)
        if not granted.everywhere and not await self._ring.any_ever():
            raise FailedPrecondition(
                "the first key closes the gateway to everybody without one, so it must grant "
                "admin for all workspaces (*) without a filter; make such a key first",
                reason="FIRST_KEY",
            )
        key = new_api_key()
        record = KeyRecord(
            key.prefix, name, key.digest, granted, now, expire_time, creator=current_actor()
        )
        await self._store.add(record)
        await self._ring.refresh()
        _log.info("key created", key=str(record.identity), actor=current_actor())
        return CreatedKey(key, record)

    async def list_all(self) -> tuple[KeyRecord, ...]:
        """Lists all keys, the latest first, revoked ones and that of the bootstrap file too."""
        first = self._ring.bootstrap_record
        return (*(() if first is None else (first,)), *await self._store.read_all())

    async def revoke(self, prefix: str) -> KeyRecord:
        """Revokes a key; calls made with it end. A second time changes nothing.

        NotFound: no such key. FailedPrecondition: it is that of the bootstrap file.
        """
        if not is_prefix(prefix):
            raise InvalidArgument(
                "prefix must be the public part of a key, such as jst_4f1c09ab12cd, as lists show "
                "it; never send the whole key",
                field="prefix",
            )
        first = self._ring.bootstrap_record
        if first is not None and first.prefix == prefix:
            raise FailedPrecondition(
                f"key {prefix} stands in the bootstrap file; write another key into that file, or "
                "remove it",
                reason="BOOTSTRAP_KEY",
            )
        record = await self._store.revoke(prefix, self._now())
        if record is None:
            raise NotFound(f"there is no key {prefix}", reason="KEY_NOT_FOUND")
        await self._ring.refresh()
        _log.info("key revoked", key=str(record.identity), actor=current_actor())
        return record


def _violations(name: str, grants: Sequence[Grant]) -> Iterator[FieldViolation]:
    if not name.strip():
        yield FieldViolation("name", "name is blank; say what the key is for")
    elif len(name) > MAX_NAME_LENGTH or _CONTROL.search(name):
        yield FieldViolation(
            "name", f"name must be at most {MAX_NAME_LENGTH} characters, none a control character"
        )
    if not 1 <= len(grants) <= MAX_GRANTS:
        yield FieldViolation("grants", f"grants must hold 1 to {MAX_GRANTS}, not {len(grants)}")
        return
    named: set[str] = set()
    for index, grant in enumerate(grants):
        yield from _grant_violations(grant, f"grants[{index}]")
        if grant.workspace in named:
            yield FieldViolation(
                f"grants[{index}].workspace",
                f"grants[{index}].workspace is named before; give one grant for each workspace",
            )
        named.add(grant.workspace)
    if len(orjson.dumps(to_grants_column(Grants.of_all(*grants)))) > MAX_GRANTS_BYTES:
        yield FieldViolation("grants", f"grants take over {MAX_GRANTS_BYTES} bytes as JSON")


def _grant_violations(grant: Grant, field: str) -> Iterator[FieldViolation]:
    if grant.workspace != EVERY_WORKSPACE and not is_slug(grant.workspace):
        yield FieldViolation(
            f"{field}.workspace",
            f"{field}.workspace {grant.workspace[:80]!r} must be the slug of a workspace, or * for "
            "all",
        )
    if not grant.actions:
        yield FieldViolation(f"{field}.actions", f"{field}.actions is empty; name one at least")
    if grant.filter is not None:
        yield from grant_filter_violations(grant.filter, f"{field}.filter")


def _expiry_violations(expire_time: datetime | None, now: datetime) -> Iterator[FieldViolation]:
    if expire_time is not None and not now < expire_time < _LAST_MOMENT:
        yield FieldViolation(
            "expire_time",
            f"expire_time {expire_time.isoformat()} must lie in the future, before the year 9999",
        )
