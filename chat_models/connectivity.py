"""Makes sure again and again that a chain's models can answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from chassis.background_task import background_task
from chassis.errors import ServiceError
from chat_models.chain import ChatChain


@asynccontextmanager
async def kept_ready(chain: ChatChain, interval_s: float) -> AsyncIterator[None]:
    """Loads and connects the models before a caller has to, and checks them while inside.

    Closes the chain at the end.
    """
    try:
        async with background_task(_keep_checking(chain, interval_s)):
            yield
    finally:
        await chain.close()


async def _keep_checking(chain: ChatChain, interval_s: float) -> None:
    while True:
        with suppress(ServiceError):  # the chain has logged it
            await chain.check()
        await asyncio.sleep(interval_s)
