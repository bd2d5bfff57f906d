"""Messages of a stream for the asyncio API."""

import asyncio
from collections.abc import Iterator
from typing import Any

import grpc.aio


async def write_messages(call: grpc.aio.StreamUnaryCall[Any, Any], messages: Iterator[Any]) -> None:
    """Sends messages; returns early when the service has answered before it heard the end."""
    try:
        # Files are opened and read off the event loop.
        while message := await asyncio.to_thread(next, messages, None):
            await call.write(message)
        await call.done_writing()
    except grpc.aio.InternalError:
        # The call ended while a message was handed over, say by its deadline; its status says why.
        return
    except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
        if not call.done():
            raise
