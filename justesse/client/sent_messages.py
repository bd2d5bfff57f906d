"""Messages of a stream for the synchronous API, which iterates over them in a thread of its own."""

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

MessageT = TypeVar("MessageT")


class SentMessages(Generic[MessageT]):
    """Iterates over messages in a thread of gRPC's, and keeps what goes wrong for the caller.

    A mere end would pass a torn stream off as a whole one, so a failure cancels the call.
    """

    def __init__(self, messages: Iterator[MessageT]) -> None:
        self._messages = messages
        self._cancel_call: Callable[[], object] | None = None
        self._call_is_known = threading.Event()
        self.failure: Exception | None = None

    def belong_to(self, cancel_call: Callable[[], object]) -> None:
        """Tells how to end the call that the messages are sent by."""
        self._cancel_call = cancel_call
        self._call_is_known.set()

    def __iter__(self) -> Iterator[MessageT]:
        try:
            yield from self._messages
        except (OSError, ValueError, TypeError) as error:
            self.failure = error
            self._call_is_known.wait()
            if self._cancel_call is not None:
                self._cancel_call()
