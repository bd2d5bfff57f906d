"""Messages that cannot be decoded are the caller's mistake, and are told as one.

gRPC would answer UNKNOWN with the name of an exception, and write a traceback to the log for each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from chassis.errors import InvalidArgument

Deserializer = Callable[[bytes], Any]


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Stands for a message of so many bytes that is none of the method's kind."""

    byte_count: int


def tolerant(deserializer: Deserializer | None) -> Deserializer | None:
    """Returns a deserializer that gives an `Undecodable` for what it cannot read."""
    if deserializer is None:
        return None

    def read(content: bytes) -> Any:
        try:
            return deserializer(content)
        except DecodeError:
            return Undecodable(len(content))

    return read


def decoded(message: Any, method: str) -> Any:
    """Returns the message; raises InvalidArgument for an `Undecodable`."""
    if message.__class__ is Undecodable:
        raise InvalidArgument(
            f"{method}: {message.byte_count} bytes are no message that this method takes; generate "
            "the client from the contracts in protos/",
            reason="MESSAGE_UNDECODABLE",
        )
    return message


async def all_decoded(messages: AsyncIterator[Any], method: str) -> AsyncIterator[Any]:
    """Yields the messages of a stream; raises InvalidArgument at the first `Undecodable`."""
    async for message in messages:
        yield decoded(message, method)
