"""How long a chat model may be silent while it writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from chassis.deadline import Deadline
from chassis.errors import DeadlineExceeded
from chassis.vendor_errors import VendorTimeout
from chat_models.protocol import ChatStream


async def pieces_in_time(
    stream: ChatStream, idle_limit_s: float, deadline: Deadline
) -> AsyncGenerator[str, None]:
    """Yields the pieces of a stream.

    Raises VendorTimeout where none comes for `idle_limit_s` seconds, DeadlineExceeded where the
    time is over, and what the stream raises.
    """
    pieces = aiter(stream)
    while True:
        left = deadline.remaining()
        try:
            async with asyncio.timeout(min(idle_limit_s, left)):
                piece = await anext(pieces, None)
        except TimeoutError as error:
            if left <= idle_limit_s:
                raise DeadlineExceeded("the time was over before the answer was whole") from error
            vendor = stream.so_far().provider
            raise VendorTimeout(vendor, f"wrote nothing for {idle_limit_s:g} s") from error
        if piece is None:
            return
        yield piece
