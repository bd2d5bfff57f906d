"""Keeps the server's own words when it refuses a stream of requests before its end.

The client may still be writing then. grpc.aio reports the write that fails as INTERNAL "Internal
error from Core", which in some percent of such calls replaces the status that the server sent.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import grpc
import grpc.aio

from chassis.finished_call import status_of_finished

_FAILED_WRITE = "Internal error from Core"


class RefusalKept:
    """A stream-unary call whose error is the server's; in all else the call itself."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._refusal: grpc.aio.AioRpcError | None = None
        # Called at every status, the false one included.
        call.add_done_callback(self._keep)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def __await__(self) -> Generator[Any, None, Any]:
        try:
            return (yield from self._call.__await__())
        except grpc.aio.AioRpcError as error:
            if self._refusal is not None and error.details() == _FAILED_WRITE:
                raise self._refusal from None
            raise

    async def code(self) -> grpc.StatusCode:
        """Returns the status code, the server's where there is one."""
        code: grpc.StatusCode = await self._call.code()
        return code if self._refusal is None else self._refusal.code()

    async def details(self) -> str | None:
        """Returns the text of the status, the server's where there is one."""
        details: str | None = await self._call.details()
        return details if self._refusal is None else self._refusal.details()

    async def trailing_metadata(self) -> Any:
        """Returns the trailing metadata, the server's where there are any."""
        metadata = await self._call.trailing_metadata()
        return metadata if self._refusal is None else self._refusal.trailing_metadata()

    def _keep(self, _call: object) -> None:
        status = status_of_finished(self._call)
        if status.code is grpc.StatusCode.OK or status.details == _FAILED_WRITE:
            return
        self._refusal = grpc.aio.AioRpcError(
            status.code,
            grpc.aio.Metadata(),
            grpc.aio.Metadata(*status.trailing_metadata),
            status.details,
        )
