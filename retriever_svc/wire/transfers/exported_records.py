"""A copy of a workspace as records: the workspace, its documents, the end."""

from collections.abc import AsyncIterator, Iterator

import numpy as np

from justesse.retriever.v1 import documents_pb2, transfers_pb2
from retriever_svc.documents import (
    WINDOWS_AWAITED,
    DocumentUpsert,
    FloatMatrix,
    Passage,
    PassageVectors,
)
from retriever_svc.transfers.workspace_copy import WorkspaceCopy, WorkspaceHead
from retriever_svc.wire.documents import document_message, passage_message
from retriever_svc.wire.transfers.record_digest import FORMAT_VERSION, RecordDigest
from retriever_svc.wire.workspaces import settings_message

RECORD_BYTES = 512 * 1024
"""Size that a record stays near; a single passage or vector may take more."""


async def exported_records(copy: WorkspaceCopy) -> AsyncIterator[bytes]:
    """Yields the records, serialized, equal ones for equal workspaces."""
    digest = RecordDigest()
    head = _head(copy.head)
    digest.add(head)
    yield head
    async for document in copy.documents:
        digest.documents += 1
        digest.passages += len(document.passages)
        digest.vectors += sum(len(given.vectors) for given in document.vectors)
        for message in _document_records(document):
            record = message.SerializeToString(deterministic=True)
            digest.add(record)
            yield record
    yield transfers_pb2.TransferRecord(end=digest.end()).SerializeToString(deterministic=True)


def _head(head: WorkspaceHead) -> bytes:
    workspace = transfers_pb2.TransferredWorkspace(
        format_version=FORMAT_VERSION,
        settings=settings_message(head.settings),
        spaces=[
            transfers_pb2.TransferredSpace(
                space_id=space.space_id,
                dimension=space.dimension,
                canary_vector=space.canary or None,
            )
            for space in head.spaces
        ],
        preferred_space_id=head.preferred_space_id,
    )
    return transfers_pb2.TransferRecord(workspace=workspace).SerializeToString(deterministic=True)


def _document_records(upsert: DocumentUpsert) -> Iterator[transfers_pb2.TransferRecord]:
    yield transfers_pb2.TransferRecord(document=document_message(upsert.document))
    for batch in _batches(upsert.passages):
        yield transfers_pb2.TransferRecord(passages=batch)
    for vectors in upsert.vectors:
        for block in _blocks(vectors):
            yield transfers_pb2.TransferRecord(vectors=block)


def _batches(passages: tuple[Passage, ...]) -> Iterator[documents_pb2.PassageBatch]:
    batch: list[documents_pb2.Passage] = []
    size = 0
    for passage in passages:
        message = _passage_message(passage)
        if batch and size + message.ByteSize() > RECORD_BYTES:
            yield documents_pb2.PassageBatch(passages=batch)
            batch, size = [], 0
        batch.append(message)
        size += message.ByteSize()
    if batch:
        yield documents_pb2.PassageBatch(passages=batch)


def _passage_message(passage: Passage) -> documents_pb2.Passage:
    message = passage_message(passage)
    if passage.parent is not None:
        message.parent.first_chunk_index = passage.parent.first_chunk_index
        message.parent.passage_count = passage.parent.passage_count
        message.parent.gap = passage.parent.gap
    return message


def _blocks(vectors: PassageVectors) -> Iterator[documents_pb2.VectorBlock]:
    """Cuts vectors into blocks of which each has the windows of all its rows, or of none."""
    counts = _window_counts(vectors)
    sizes = np.maximum(counts, 0)
    ends = np.cumsum(sizes)
    row_bytes = 4 * vectors.vectors.shape[1]
    first = 0
    while first < len(counts):
        last, size = first, 0
        while last < len(counts) and (counts[last] == WINDOWS_AWAITED) == (
            counts[first] == WINDOWS_AWAITED
        ):
            size += row_bytes * (1 + int(sizes[last]))
            if last > first and size > RECORD_BYTES:
                break
            last += 1
        windows = slice(int(ends[first] - sizes[first]), int(ends[last - 1]))
        yield _block(vectors, counts[first:last].tolist(), slice(first, last), windows)
        first = last


def _block(
    vectors: PassageVectors, counts: list[int], rows: slice, windows: slice
) -> documents_pb2.VectorBlock:
    awaited = counts[0] == WINDOWS_AWAITED
    return documents_pb2.VectorBlock(
        space_id=vectors.space_id,
        dimension=vectors.vectors.shape[1],
        passage_positions=vectors.positions[rows].tolist(),
        vectors=_bytes(vectors.vectors[rows]),
        window_counts=() if awaited else counts,
        window_vectors=b""
        if awaited or vectors.window_vectors is None
        else _bytes(vectors.window_vectors[windows]),
        sliced_rows=sorted(
            row - rows.start for row in vectors.sliced_rows if rows.start <= row < rows.stop
        ),
    )


def _window_counts(vectors: PassageVectors) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    if vectors.window_counts is None:
        return np.full(len(vectors.vectors), WINDOWS_AWAITED, np.int64)
    return vectors.window_counts


def _bytes(matrix: FloatMatrix) -> bytes:
    return matrix.astype("<f4", copy=False).tobytes()
