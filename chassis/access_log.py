"""One log line for each call served: which, for whom, how it ended, how long it took.

No content of requests or answers is ever logged here.
"""

from __future__ import annotations

import time
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import structlog

from chassis.interception import CalledMethod, ServicerContext
from chassis.metrics import ended_status
from chassis.request_id import current_request_id

_log = structlog.get_logger("chassis.access")


def calls_logged(
    method: CalledMethod, context: ServicerContext
) -> AbstractAsyncContextManager[None]:
    """Writes the line when the call ends, however it ends."""
    return _LoggedCall(method, context)


class _LoggedCall:
    __slots__ = ("_context", "_method", "_start")

    def __init__(self, method: CalledMethod, context: ServicerContext) -> None:
        self._method = method
        self._context = context
        self._start = 0.0

    async def __aenter__(self) -> None:
        self._start = time.perf_counter()

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        _log.info(
            "call",
            service=self._method.service,
            method=self._method.name,
            status=ended_status(self._context, error),
            milliseconds=round((time.perf_counter() - self._start) * 1e3, 3),
            request_id=current_request_id(),
            peer=self._context.peer(),
        )
