"""Documents cut into messages for the retriever."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gateway.clients.upsert_stream import passage_batches
from gateway.documents import FloatMatrix, Passage, VectorBlock
from justesse.retriever.v1 import documents_pb2


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[Passage], list[VectorBlock]]:
    """Draws passages and up to two blocks of vectors, some passages without, some with windows."""
    count = draw(st.integers(1, 12))
    passages = [
        Passage(index, "x" * draw(st.integers(1, 60)), ("Titre",)) for index in range(count)
    ]
    return passages, [draw(blocks(name, count)) for name in ("a", "b")[: draw(st.integers(0, 2))]]


@st.composite
def blocks(draw: st.DrawFn, space_id: str, count: int) -> VectorBlock:
    """Draws a block for some of `count` passages."""
    some = draw(st.lists(st.integers(0, count - 1), unique=True, min_size=1).map(sorted))
    every = len(some) == count and draw(st.booleans())
    width = draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    vectors: FloatMatrix = generator.normal(size=(len(some), width)).astype(np.float32)
    sliced = frozenset(draw(st.sets(st.integers(0, len(some) - 1))))
    positions = None if every else tuple(some)
    if draw(st.booleans()):
        return VectorBlock(space_id, vectors, positions, sliced_rows=sliced)
    counts = tuple(draw(st.integers(0, 3)) for _ in some)
    windows: FloatMatrix = generator.normal(size=(sum(counts), width)).astype(np.float32)
    return VectorBlock(space_id, vectors, positions, counts, windows, sliced_rows=sliced)


def rows_by_passage(
    batches: list[documents_pb2.PassageBatch],
) -> dict[tuple[str, int], tuple[bytes, bytes, bool]]:
    """Returns vector, windows and slicing of each space and passage, as they are read there."""
    found = {}
    start = 0
    for batch in batches:
        for block in batch.vectors:
            width = 4 * block.dimension
            counts = list(block.window_counts) or [0] * len(block.passage_positions)
            offset = 0
            for row, position in enumerate(block.passage_positions):
                end = offset + width * counts[row]
                found[block.space_id, start + position] = (
                    block.vectors[row * width : (row + 1) * width],
                    block.window_vectors[offset:end],
                    row in block.sliced_rows,
                )
                offset = end
            assert offset == len(block.window_vectors)
        start += len(batch.passages)
    return found


@given(documents(), st.integers(1, 400))
def test_batches_hold_everything_once_and_in_order(
    document: tuple[list[Passage], list[VectorBlock]], batch_bytes: int
) -> None:
    """Whatever the size of a message, each passage arrives with its own vectors and windows."""
    passages, vectors = document

    batches = list(passage_batches(passages, vectors, batch_bytes))

    arrived = [passage.chunk_index for batch in batches for passage in batch.passages]
    assert arrived == list(range(len(passages)))
    expected = {}
    for block in vectors:
        ends = np.cumsum([0, *block.window_counts])
        positions = block.passage_positions or range(len(block.vectors))
        for row, position in enumerate(positions):
            windows = b""
            if block.window_vectors is not None:
                windows = block.window_vectors[ends[row] : ends[row + 1]].tobytes()
            sliced = row in block.sliced_rows
            expected[block.space_id, position] = (block.vectors[row].tobytes(), windows, sliced)
    assert rows_by_passage(batches) == expected


@given(documents(), st.integers(1, 400))
def test_a_message_passes_its_size_with_one_passage_only(
    document: tuple[list[Passage], list[VectorBlock]], batch_bytes: int
) -> None:
    """A batch of two or more passages keeps to the bound, counted in text and vectors."""
    for batch in passage_batches(*document, batch_bytes):
        text = sum(len(passage.text) + len("Titre") for passage in batch.passages)
        floats = sum(len(block.vectors) + len(block.window_vectors) for block in batch.vectors)
        assert len(batch.passages) == 1 or text + floats <= batch_bytes


def test_a_large_document_stays_far_below_the_message_limit() -> None:
    """2,000 passages of 1024 wide vectors become messages of about 2 MiB."""
    passages = [Passage(index, "x" * 2000) for index in range(2000)]
    vectors: FloatMatrix = np.ones((2000, 1024), dtype=np.float32)

    sizes = [batch.ByteSize() for batch in passage_batches(passages, [VectorBlock("s", vectors)])]

    assert max(sizes) < 3 * 2**20
    assert len(sizes) < 10
