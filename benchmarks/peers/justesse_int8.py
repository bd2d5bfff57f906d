"""The retriever's engine with graphs that hold vectors as int8."""

from pathlib import Path

from benchmarks.peers.justesse import JustesseInt8


def opened(folder: Path) -> JustesseInt8:
    """See `PeerModule`."""
    return JustesseInt8(folder)
