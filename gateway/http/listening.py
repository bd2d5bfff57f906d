"""Work that is worth its cost only while somebody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

Result = TypeVar("Result")


NOBODY_LISTENS = 499
"""Status, by the custom of nginx, of an answer whose caller has gone."""


async def while_listened(request: Request, work: Coroutine[Any, Any, Result]) -> Result | None:
    """Returns what the work returns, or cancels it and returns None when its caller goes.

    The request's body has been read.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.wait({working, leaving})


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
