"""The file of one segment: the ids as int64, little-endian, then the graph as FAISS writes it."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from retriever_svc.documents import IntVector
from retriever_svc.embedded.dense.graph_segment import GraphSegment
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.snapshots.durable_files import replacing
from retriever_svc.embedded.snapshots.snapshot_manifest import SegmentEntry
from retriever_svc.embedded.snapshots.snapshot_rejection import RejectionReason, SnapshotRejected

_ID = np.dtype("<i8")
_BLOCK = 2**20


def write_segment(path: Path, segment: GraphSegment, written: Callable[[], None]) -> SegmentEntry:
    """Writes the file and returns its entry; `written` is called before it gets its name."""
    ids = segment.ids.astype(_ID, copy=False).tobytes()
    with replacing(path) as file:
        sink = _HashingSink(file)
        sink.write(ids)
        segment.graph.write(sink.write)
        written()
    return SegmentEntry(
        file=path.name,
        row_count=segment.row_count,
        byte_count=sink.byte_count,
        ids_sha256=hashlib.sha256(ids).hexdigest(),
        sha256=sink.digest.hexdigest(),
    )


def read_segment(path: Path, entry: SegmentEntry, dimension: int) -> tuple[HnswGraph, IntVector]:
    """Returns graph and ids once every byte has been checked. Raises SnapshotRejected."""
    try:
        with path.open("rb") as file:
            _check(file, entry)
            file.seek(0)
            content = file.read(entry.row_count * _ID.itemsize)
            if hashlib.sha256(content).hexdigest() != entry.ids_sha256:
                raise SnapshotRejected(RejectionReason.CHECKSUM, f"ids of {entry.file}")
            ids = np.frombuffer(content, _ID).astype(np.int64)
            graph = HnswGraph.read(file.read)
    except OSError as error:
        raise SnapshotRejected(RejectionReason.CHECKSUM, f"{entry.file}: {error}") from error
    except (RuntimeError, AttributeError, MemoryError) as error:
        raise SnapshotRejected(RejectionReason.UNREADABLE, f"{entry.file}: {error}") from error
    if (len(graph), graph.dimension) != (entry.row_count, dimension):
        raise SnapshotRejected(
            RejectionReason.UNREADABLE, f"{entry.file}: {len(graph)} x {graph.dimension}"
        )
    return graph, ids


def _check(file: BinaryIO, entry: SegmentEntry) -> None:
    digest, byte_count = hashlib.sha256(), 0
    # Never more than one block beyond what was written, however long the file is.
    while byte_count <= entry.byte_count and (block := file.read(_BLOCK)):
        digest.update(block)
        byte_count += len(block)
    if (byte_count, digest.hexdigest()) != (entry.byte_count, entry.sha256):
        raise SnapshotRejected(RejectionReason.CHECKSUM, entry.file)


class _HashingSink:
    """Passes bytes on and keeps their checksum."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.byte_count = 0

    def write(self, content: bytes) -> None:
        self._file.write(content)
        self.digest.update(content)
        self.byte_count += len(content)
