"""The guard of the gRPC door: which call needs what is the table's, who may do it the keys'."""

from __future__ import annotations

from contextlib import AbstractContextManager
from operator import attrgetter
from typing import Any

from chassis.entrance import Metadata
from chassis.errors import PermissionDenied
from gateway.access.access import Access
from gateway.access.call_access import current_access
from gateway.access.needs import RPC_NEEDS, Reach

_KEY = "authorization"


class AccessGuard:
    """Implements the `Guard` of the gateway's server."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._workspaces = {
            method: _workspace_at(need.place)
            for method, need in RPC_NEEDS.items()
            if need.reach is Reach.WORKSPACE
        }

    async def admit(self, method: str, metadata: Metadata) -> None:
        """Checks the key and what it grants at all."""
        # What is no text cannot be a key, and counts as one that is not valid.
        sent = [value if isinstance(value, str) else "" for key, value in metadata if key == _KEY]
        await self._access.admit(sent, RPC_NEEDS.get(method))

    def check(self, method: str, message: Any) -> None:
        """Checks the workspace that a message names; those of a stream name it once a file."""
        workspace_of = self._workspaces.get(method)
        if workspace_of is None:
            return
        access = current_access()
        if access is None:
            raise PermissionDenied("the call was not admitted", reason="NOT_GRANTED")
        workspace = workspace_of(message)
        if workspace is not None:
            access.check_workspace(workspace)

    def during(self) -> AbstractContextManager[None]:
        """Ends the work when its key ends."""
        return self._access.during()


def _workspace_at(place: str) -> Any:
    """Returns what reads a field such as `header.workspace`.

    It returns None for messages of a stream that hold no header. Those who read the stream refuse
    one that does not begin with it.
    """
    read = attrgetter(place)
    if not place.startswith("header."):
        return read
    return lambda message: read(message) if message.HasField("header") else None
