"""The layout of an archive: a head, frames, and an end that is one of them.

    head   89 4A 57 53 0D 0A 1A 0A, then the version of the layout as four bytes
    frame  kind (1 byte), packing (1 byte: 0 as it is, 1 deflate), length of the payload (4 bytes),
           CRC-32 (4 bytes) over the frame's number from 0 (8 bytes), kind, packing and payload
    end    kind 0; its payload, never packed, is the SHA-256 of all bytes before the frame

Numbers are little-endian. A text-mode transfer spoils the head, a flipped bit or a moved frame its
CRC, and anything else the SHA-256.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from chassis.errors import FailedPrecondition, InvalidArgument

MAGIC = b"\x89JWS\r\n\x1a\n"
VERSION = 1
MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
"""Bytes of a frame, packed and unpacked."""
MAX_RATIO = 200
"""How many times its size a packed payload may grow."""

_HEAD = struct.Struct("<8sI")
_FRAME = struct.Struct("<BBII")
_NUMBER = struct.Struct("<QBB")
_PLAIN, _DEFLATE = 0, 1
_LEVEL = 1


class FrameKind(IntEnum):
    """Names what a frame holds."""

    END = 0
    RECORD = 1
    """One record of the retriever."""
    FACTS = 2
    """What the gateway knows of the workspace, in JSON."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, unpacked."""

    kind: FrameKind
    payload: bytes


class ArchiveWriter:
    """Writes one archive; every method returns the bytes that follow those before."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._number = 0

    def head(self) -> bytes:
        """Begins the archive."""
        return self._passed(_HEAD.pack(MAGIC, VERSION))

    def frame(self, kind: FrameKind, payload: bytes) -> bytes:
        """Adds a frame, packed where that makes it smaller."""
        packed = zlib.compress(payload, _LEVEL)
        if len(packed) < len(payload) <= MAX_RATIO * len(packed):
            return self._passed(self._framed(kind, _DEFLATE, packed))
        return self._passed(self._framed(kind, _PLAIN, payload))

    def end(self) -> bytes:
        """Ends the archive."""
        return self._framed(FrameKind.END, _PLAIN, self._sha256.digest())

    def _framed(self, kind: FrameKind, packing: int, payload: bytes) -> bytes:
        crc = _crc(self._number, kind, packing, payload)
        self._number += 1
        return _FRAME.pack(kind, packing, len(payload), crc) + payload

    def _passed(self, data: bytes) -> bytes:
        self._sha256.update(data)
        return data


class ArchiveReader:
    """Reads one archive as it comes, never more than a frame of it at once.

    Raises InvalidArgument for bytes that are no archive, damaged or cut off, FailedPrecondition for
    a layout of a newer build.
    """

    def __init__(self, content: AsyncIterator[bytes]) -> None:
        self._content = content
        self._buffer = bytearray()
        self._sha256: Any = hashlib.sha256()
        self._offset = 0
        self._number = 0

    async def read_head(self) -> None:
        """Reads the head, which must come first."""
        magic, version = _HEAD.unpack(await self._taken(_HEAD.size, "head"))
        if magic != MAGIC:
            raise InvalidArgument(
                "this is no archive of a workspace: it does not begin as one; send the file that "
                "an export wrote, byte by byte",
                reason="NO_ARCHIVE",
            )
        if version != VERSION:
            raise FailedPrecondition(
                f"the archive has version {version}, and this build reads version {VERSION}: "
                "import it with the build that wrote it, or a newer one",
                reason="ARCHIVE_TOO_NEW",
            )

    async def frames(self) -> AsyncIterator[Frame]:
        """Yields the frames before the end, and returns once the end was seen and is right."""
        while True:
            before, offset = self._sha256.digest(), self._offset
            head = await self._taken(_FRAME.size, f"frame {self._number}")
            kind, packing, length, crc = _FRAME.unpack(head)
            if length > MAX_PAYLOAD_BYTES:
                raise self._damaged(offset, f"says that it has {length} bytes, too many")
            payload = await self._taken(length, f"frame {self._number}")
            if crc != _crc(self._number, kind, packing, payload):
                raise self._damaged(offset, "was altered, or stands in another place than it did")
            if kind == FrameKind.END:
                await self._check_end(offset, payload, before)
                return
            if kind not in (FrameKind.RECORD, FrameKind.FACTS):
                raise self._damaged(offset, f"is of the unknown kind {kind}")
            yield Frame(FrameKind(kind), self._unpacked(offset, packing, payload))
            self._number += 1

    async def _check_end(self, offset: int, payload: bytes, before: bytes) -> None:
        if payload != before:
            raise self._damaged(offset, "has another checksum than what came before")
        if self._buffer or await self._more():
            raise self._damaged(offset, "is the end, and more bytes follow")

    def _unpacked(self, offset: int, packing: int, payload: bytes) -> bytes:
        if packing == _PLAIN:
            return payload
        if packing != _DEFLATE:
            raise self._damaged(offset, f"is packed in the unknown way {packing}")
        limit = min(MAX_PAYLOAD_BYTES, MAX_RATIO * len(payload))
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(payload, limit)
        except zlib.error as error:
            raise self._damaged(offset, f"cannot be unpacked ({error})") from error
        if not unpacking.eof or unpacking.unused_data:
            raise self._damaged(offset, f"unpacks to over {limit} bytes, or not to an end")
        return data

    async def _taken(self, size: int, what: str) -> bytes:
        while len(self._buffer) < size:
            if not await self._more():
                raise InvalidArgument(
                    f"the archive is cut off after {self._offset + len(self._buffer)} bytes, "
                    f"in its {what}; send all of it",
                    reason="ARCHIVE_DAMAGED",
                )
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._offset += size
        self._sha256.update(data)
        return data

    async def _more(self) -> bool:
        async for part in self._content:
            if part:
                self._buffer += part
                return True
        return False

    def _damaged(self, offset: int, problem: str) -> InvalidArgument:
        return InvalidArgument(
            f"frame {self._number} of the archive, at byte {offset}, {problem}; take another copy",
            reason="ARCHIVE_DAMAGED",
        )


def pieces(content: bytes, size: int = 1024 * 1024) -> Iterator[bytes]:
    """Cuts bytes into what one message carries."""
    for start in range(0, len(content), size):
        yield content[start : start + size]


def _crc(number: int, kind: int, packing: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(_NUMBER.pack(number, kind, packing)))
