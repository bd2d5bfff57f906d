"""Decides whether a call is served: with which key it comes, and what that key grants."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import Enum

from chassis.errors import Unauthenticated
from gateway.access.api_key import ApiKey, api_key_from
from gateway.access.call_access import CallAccess, bind_access
from gateway.access.grants import EVERYTHING, NOTHING
from gateway.access.key_ring import KeyRing
from gateway.access.needs import Need, Reach

CHALLENGE = 'Bearer realm="justesse"'
"""What WWW-Authenticate says where a key is missing or not valid (RFC 6750)."""

_SCHEME = "bearer"


class AccessMode(Enum):
    """When callers need keys."""

    AUTO = "auto"
    """As soon as there ever was a key."""
    KEYS = "keys"
    """Always."""
    OPEN = "open"
    """Never; a key that is sent is not looked at."""


class Access:
    """Admits calls; without a ring of keys, all of them."""

    def __init__(self, ring: KeyRing | None, mode: AccessMode = AccessMode.AUTO) -> None:
        self._ring = ring
        self._mode = AccessMode.OPEN if ring is None else mode

    async def admit(self, authorizations: Sequence[str], need: Need | None) -> None:
        """Checks a call before its request is read, and binds what it may do to the task.

        `authorizations` are the values of all `authorization` headers. Unauthenticated: none, more
        than one, or no valid key. Unavailable: keys cannot be checked. PermissionDenied: no grant
        of the key could allow the call, whatever it says.
        """
        access = await self._access_of(authorizations, need)
        access.check_before_reading()
        bind_access(access)

    def during(self) -> AbstractContextManager[None]:
        """Surrounds the work of an admitted call; Unauthenticated when its key ends meanwhile."""
        return nullcontext() if self._ring is None else self._ring.running.during()

    async def _access_of(self, authorizations: Sequence[str], need: Need | None) -> CallAccess:
        ring = self._ring
        if ring is None or self._mode is AccessMode.OPEN:
            return CallAccess(None, EVERYTHING, need)
        if self._mode is AccessMode.AUTO and ring.known_empty:
            return CallAccess(None, EVERYTHING, need)
        if need is not None and need.reach is Reach.NOBODY:
            return CallAccess(None, NOTHING, need)
        if self._mode is AccessMode.AUTO and not await ring.any_ever():
            return CallAccess(None, EVERYTHING, need)
        record = await ring.record_of(presented_key(authorizations))
        return CallAccess(record.identity, record.grants, need)


def presented_key(authorizations: Sequence[str]) -> ApiKey:
    """Reads `Bearer KEY`; Unauthenticated where that is missing, repeated or no key."""
    if not authorizations:
        raise Unauthenticated(
            "an API key is needed; send it as 'authorization: Bearer KEY'", reason="KEY_MISSING"
        )
    if len(authorizations) > 1:
        raise Unauthenticated("send one authorization header, not several", reason="KEY_NOT_VALID")
    scheme, _, text = authorizations[0].partition(" ")
    key = api_key_from(text.strip(" ")) if scheme.lower() == _SCHEME else None
    if key is None:
        raise Unauthenticated(
            "the authorization header holds no API key of this service; send it as "
            "'authorization: Bearer KEY'",
            reason="KEY_NOT_VALID",
        )
    return key
