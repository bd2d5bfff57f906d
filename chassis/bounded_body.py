"""Reads a body of unknown size and honesty into bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

_GZIP = zlib.MAX_WBITS | 16


class BodyTooLarge(Exception):  # noqa: N818 - says what the body is
    """The body exceeds its cap once decoded."""


class BadEncoding(Exception):  # noqa: N818 - says what the body has
    """The body is not encoded as its header says."""


class IncompleteBody(BadEncoding):
    """The compressed data ends too early."""


async def read_bounded(chunks: AsyncIterator[bytes], encoding: str, cap: int) -> bytes:
    """Returns the decoded body, at most `cap` bytes.

    `encoding` is the Content-Encoding: "" or "identity", "gzip". Never holds more than the cap
    and one chunk, however well the data is compressed.
    """
    if encoding in ("", "identity"):
        return await _plain(chunks, cap)
    if encoding in ("gzip", "x-gzip"):
        return await _gunzipped(chunks, cap)
    raise BadEncoding(f"content encoding {encoding!r} was not asked for")


async def _plain(chunks: AsyncIterator[bytes], cap: int) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        if len(body) + len(chunk) > cap:
            raise BodyTooLarge(f"more than {cap} bytes")
        body += chunk
    return bytes(body)


async def _gunzipped(chunks: AsyncIterator[bytes], cap: int) -> bytes:
    body = bytearray()
    decoder = zlib.decompressobj(_GZIP)
    async for chunk in chunks:
        if decoder.eof:
            raise BadEncoding("data after the end of the gzip stream")
        try:
            body += decoder.decompress(chunk, cap - len(body) + 1)
        except zlib.error as error:
            raise BadEncoding(str(error)) from error
        if len(body) > cap:
            raise BodyTooLarge(f"more than {cap} bytes once decompressed")
        if decoder.unused_data:
            raise BadEncoding("data after the end of the gzip stream")
    if not decoder.eof:
        raise IncompleteBody("the gzip stream ends too early")
    return bytes(body)
