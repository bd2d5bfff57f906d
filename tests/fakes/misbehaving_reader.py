"""A reading process whose extractor of text files does what the file tells it to.

Started as a script in place of `python -m gateway.ingestion.extraction`.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from gateway.ingestion.extraction import __main__ as reading_process
from gateway.ingestion.extraction.blocks import Extraction, paragraph
from gateway.ingestion.extraction.limits import ExtractionLimits

_files_read = 0
_hoard: list[bytes] = []


def extract(path: Path, limits: ExtractionLimits) -> Extraction:
    """Does what the file says, and answers with what the process knows of itself."""
    global _files_read
    _files_read += 1
    _obey(path, limits)
    descriptors = sorted(os.listdir("/proc/self/fd"))
    return Extraction(
        (
            paragraph(f"process {os.getpid()} file {_files_read}"),
            paragraph(f"descriptors {' '.join(descriptors)}"),
            paragraph(f"variables {' '.join(sorted(os.environ))}"),
        )
    )


def _spin() -> None:
    while True:
        pass


def _fail() -> None:
    raise RuntimeError("an extractor's own fault")


def _connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=2).close()


def _abort_later() -> None:
    if _files_read > 1:
        os.abort()


def _print() -> None:
    sys.stdout.write("noise\n")
    sys.stdout.flush()


def _obey(path: Path, limits: ExtractionLimits) -> None:
    orders: dict[str, Callable[[], object]] = {
        "sleep": lambda: time.sleep(600),
        "spin": _spin,
        "abort": os.abort,
        "abort unless first": _abort_later,
        "allocate": lambda: bytearray(2 * limits.memory_bytes),
        "hoard": lambda: _hoard.append(bytes(limits.memory_bytes // 2)),
        "raise": _fail,
        "print": _print,
        "write": lambda: path.with_name("written").write_text("something"),
        "tell": lambda: None,
    }
    order, _, port = path.read_text().partition(" port ")
    if port:
        _connect(int(port))
    else:
        orders[order]()


if __name__ == "__main__":
    fake = ModuleType("gateway.ingestion.extraction.text")
    fake.extract = extract  # type: ignore[attr-defined]
    sys.modules[fake.__name__] = fake
    reading_process.main()
