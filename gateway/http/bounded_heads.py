"""Heads of HTTP requests, bounded in size and time before anything is made of them."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 64 * 1024
HEAD_TIMEOUT_S = 10.0


class BoundedHeads(HttpToolsProtocol):
    """The protocol of uvicorn, which would read heads of any length, for as long as they come.

    A head that is too long is answered 431, one that is not there in time is not answered; the
    connection is closed in both cases.
    """

    _head_byte_count = 0
    _in_head = True
    _too_long = False
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first head."""
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads on, unless the head is too long by now."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_byte_count += len(data)
            if self._head_byte_count > MAX_HEAD_BYTES:
                self._refuse()

    def on_message_begin(self) -> None:
        """Waits for the head of a request, which may not be the first of the connection."""
        if not self._in_head:
            self._wait_for_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begins the request, if its head is not too long."""
        self._in_head = False
        self._stop_waiting()
        length = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if length > MAX_HEAD_BYTES:
            self._too_long = True
            # Stops the parser, which answers by `send_400_response`.
            raise ValueError("the head is too long")
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answers what cannot be read, or is too long, and closes the connection."""
        if self._too_long:
            self._refuse()
            return
        self._answer(b"400 Bad Request", "INVALID_ARGUMENT", "REQUEST_UNREADABLE", msg)

    def _refuse(self) -> None:
        message = f"the head of the request is over {MAX_HEAD_BYTES} bytes; send less"
        status = b"431 Request Header Fields Too Large"
        self._answer(status, "RESOURCE_EXHAUSTED", "HEAD_TOO_LARGE", message)

    def _answer(self, line: bytes, status: str, reason: str, message: str) -> None:
        error: dict[str, Any] = {"status": status, "reason": reason, "message": message}
        body = orjson.dumps({"error": error})
        self.transport.write(
            b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
            b"connection: close\r\n\r\n%s" % (line, len(body), body)
        )
        self.transport.close()

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._in_head, self._head_byte_count = True, 0
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(HEAD_TIMEOUT_S, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
