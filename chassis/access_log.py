"""One log line for each call served: which, for whom, how it ended, how long it took.

No content of requests or answers is ever logged here.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from chassis.interception import CalledMethod, ServicerContext
from chassis.metrics import ended_status
from chassis.request_id import current_request_id

_log = structlog.get_logger("chassis.access")


@asynccontextmanager
async def calls_logged(method: CalledMethod, context: ServicerContext) -> AsyncIterator[None]:
    """Writes the line when the call ends, however it ends."""
    start = time.perf_counter()
    status = "OK"
    try:
        yield
        status = ended_status(context, None)
    except BaseException as error:
        status = ended_status(context, error)
        raise
    finally:
        _log.info(
            "call",
            service=method.service,
            method=method.name,
            status=status,
            milliseconds=round((time.perf_counter() - start) * 1e3, 3),
            request_id=current_request_id(),
            peer=context.peer(),
        )
