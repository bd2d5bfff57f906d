"""The part of the asyncio client that keeps API keys."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime

from justesse.client import key_requests
from justesse.client.keys import CreatedKey, Grant, Key
from justesse.client.requests import CallFor, ResultT


class AsyncKeyCalls(ABC):
    """What a client can do with keys; it needs one that grants everything itself."""

    async def create_key(
        self,
        name: str,
        grants: Iterable[Grant],
        *,
        expire_time: datetime | None = None,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> CreatedKey:
        """Makes a key, which works at once; its text is in this answer and nowhere else."""
        call = key_requests.create_key(name, grants, expire_time)
        return await self._answer(call, timeout, request_id)

    async def list_keys(
        self, *, timeout: float | None = 30.0, request_id: str | None = None
    ) -> tuple[Key, ...]:
        """Lists all keys, the latest first, revoked and expired ones too."""
        return await self._answer(key_requests.list_keys(), timeout, request_id)

    async def revoke_key(
        self, prefix: str, *, timeout: float | None = 30.0, request_id: str | None = None
    ) -> Key:
        """Revokes a key: within a minute no gateway serves it. A second time changes nothing."""
        return await self._answer(key_requests.revoke_key(prefix), timeout, request_id)

    @abstractmethod
    async def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT: ...
