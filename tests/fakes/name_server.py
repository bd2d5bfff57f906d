"""A DNS server on a free port of the loopback, whose one name means what a test says."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_A = 1
_RESPONSE_FLAGS = 0x8180
_NAME_OF_QUESTION = b"\xc0\x0c"


@dataclass
class NameServer:
    """Answers questions for IPv4 addresses of any name with `addresses`; there is nothing else."""

    port: int
    addresses: list[str] = field(default_factory=list)

    def target(self, port: int) -> str:
        """Returns what a gRPC client calls to reach all addresses on a port."""
        return f"dns://127.0.0.1:{self.port}/mesh.test:{port}"

    def answer(self, query: bytes) -> bytes:
        """Answers one message (RFC 1035, section 4) that holds one question."""
        end = query.index(b"\0", 12) + 5
        (kind,) = struct.unpack("!H", query[end - 4 : end - 2])
        found = self.addresses if kind == _A else []
        records = b"".join(
            _NAME_OF_QUESTION + struct.pack("!HHIH", _A, 1, 0, 4) + socket.inet_aton(address)
            for address in found
        )
        head = query[:2] + struct.pack("!HHHHH", _RESPONSE_FLAGS, 1, len(found), 0, 0)
        return head + query[12:end] + records


@contextmanager
def name_server(*addresses: str) -> Iterator[NameServer]:
    """Runs one for the time of a `with` block."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        server = NameServer(udp.getsockname()[1], list(addresses))
        over = threading.Event()

        def serve() -> None:
            while True:
                query, sender = udp.recvfrom(4096)
                if over.is_set():
                    return
                udp.sendto(server.answer(query), sender)

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield server
        finally:
            over.set()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waking:
                waking.sendto(b"", ("127.0.0.1", server.port))
            serving.join()
