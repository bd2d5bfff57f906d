"""Passages with their vectors, cut into messages of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gateway.clients.retriever_messages import to_passage
from gateway.documents import Passage, VectorBlock
from justesse.retriever.v1 import documents_pb2

BATCH_BYTES = 2 * 1024 * 1024
"""Target size of a message; one passage with its windows may be larger."""


def passage_batches(
    passages: Sequence[Passage], blocks: Sequence[VectorBlock], batch_bytes: int = BATCH_BYTES
) -> Iterator[documents_pb2.PassageBatch]:
    """Yields the passages in order, each batch with the rows of every block that belong to it."""
    windows = [_window_offsets(block) for block in blocks]
    positions = [_positions(block) for block in blocks]
    sizes = _passage_sizes(passages, blocks, positions)
    start = 0
    while start < len(passages):
        end, size = start + 1, sizes[start]
        while end < len(passages) and size + sizes[end] <= batch_bytes:
            size += sizes[end]
            end += 1
        batch = documents_pb2.PassageBatch(passages=map(to_passage, passages[start:end]))
        for block, rows_at, offsets in zip(blocks, positions, windows, strict=True):
            first, last = np.searchsorted(rows_at, (start, end))
            if last > first:
                batch.vectors.append(
                    _slice(block, rows_at[first:last] - start, int(first), int(last), offsets)
                )
        yield batch
        start = end


def block_message(block: VectorBlock) -> documents_pb2.VectorBlock:
    """Writes a whole block whose rows belong to the passages beside it, in order."""
    message = _slice(block, _positions(block), 0, len(block.vectors), _window_offsets(block))
    del message.passage_positions[:]
    return message


def _positions(block: VectorBlock) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if block.passage_positions is None:
        return np.arange(len(block.vectors), dtype=np.int64)
    return np.asarray(block.passage_positions, dtype=np.int64)


def _window_offsets(block: VectorBlock) -> list[int]:
    """Row of `window_vectors` where each row's windows start, and where the last ones end."""
    return [0, *np.cumsum(block.window_counts, dtype=np.int64).tolist()]


def _passage_sizes(
    passages: Sequence[Passage],
    blocks: Sequence[VectorBlock],
    positions: Sequence[np.ndarray[tuple[int], np.dtype[np.int64]]],
) -> list[int]:
    sizes = [
        len(passage.text.encode()) + sum(len(heading.encode()) for heading in passage.heading_path)
        for passage in passages
    ]
    for block, rows_at in zip(blocks, positions, strict=True):
        width = 4 * block.vectors.shape[1]
        for row, position in enumerate(rows_at.tolist()):
            window_count = block.window_counts[row] if block.window_counts else 0
            sizes[position] += width * (1 + window_count)
    return sizes


def _slice(
    block: VectorBlock,
    batch_positions: np.ndarray[tuple[int], np.dtype[np.int64]],
    first: int,
    last: int,
    offsets: list[int],
) -> documents_pb2.VectorBlock:
    message = documents_pb2.VectorBlock(
        space_id=block.space_id,
        dimension=block.vectors.shape[1],
        passage_positions=batch_positions.tolist(),
        vectors=np.ascontiguousarray(block.vectors[first:last], dtype="<f4").tobytes(),
        sliced_rows=sorted(row - first for row in block.sliced_rows if first <= row < last),
    )
    if block.canary:
        message.canary_vector = block.canary
    if block.window_counts and block.window_vectors is not None:
        message.window_counts.extend(block.window_counts[first:last])
        rows = block.window_vectors[offsets[first] : offsets[last]]
        message.window_vectors = np.ascontiguousarray(rows, dtype="<f4").tobytes()
    return message
