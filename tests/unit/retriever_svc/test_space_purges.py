"""Vectors that leave a space leave every file of the data folder too: looked for byte by byte."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.documents import FloatMatrix
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.spaces import PassageKey, VectorsPutRequest, WindowsPutRequest
from tests.fakes.folder_bytes import files_with
from tests.fakes.purged_folders import (
    HOURS_4,
    PER_DOCUMENT,
    ROWS,
    SOON,
    engine_over,
    fill,
    until,
    wait_for_purges,
    word,
)
from tests.fakes.retrieval import OTHER_SPACE, SPACE, passage_vectors
from tests.fakes.snapshot_folders import counted

ALL = 20 * PER_DOCUMENT


async def keys_of(engine: EmbeddedEngine, numbers: Sequence[int]) -> tuple[PassageKey, ...]:
    """Names stored passages by the numbers of their words."""
    page = await engine.list_passages_awaiting("docs", "none", page_size=500, after=None)
    by_text = {one.passage.text: one for one in page.passages}
    chosen = [by_text[f"passage {word(number)}"] for number in numbers]
    return tuple(PassageKey(one.passage_id, one.passage.embedded_text_hash) for one in chosen)


async def put_rows(
    engine: EmbeddedEngine,
    numbers: Sequence[int],
    space_id: str,
    rows: FloatMatrix,
    *,
    left: tuple[str, ...] = (),
) -> None:
    """Gives stored passages these vectors in a space, and takes those of the spaces `left`."""
    given = passage_vectors(rows.tolist(), space_id)
    keys = await keys_of(engine, numbers)
    await engine.put_vectors(VectorsPutRequest("docs", keys, given, left_space_ids=left))


def vectors_of(numbers: Sequence[int]) -> list[bytes]:
    """Returns the bytes of these vectors alone."""
    return [ROWS[number].tobytes()[:32] for number in numbers]


async def test_a_dropped_space_leaves_no_bytes(tmp_path: Path) -> None:
    """Its rows, its graph with the snapshot, and what the log holds of them are gone in time."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        await put_rows(engine, range(ALL), OTHER_SPACE, ROWS[ALL : 2 * ALL])
        await engine.switch_space("docs", OTHER_SPACE, require_complete=True)
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        before = files_with(tmp_path, vectors_of(range(ALL)))
        assert counted(registry, "purged") == 0
        await engine.drop_space("docs", SPACE)
        await wait_for_purges(registry)
        left = files_with(tmp_path, vectors_of(range(ALL)))
        kept = files_with(tmp_path, vectors_of(range(ALL, 2 * ALL)))

    assert any(name.endswith(".segment") for name in before)
    assert left == {}
    assert kept["store.sqlite3"] == ALL


@pytest.mark.parametrize("numbers", [range(70, 80), range(ALL)], ids=["some", "all"])
async def test_vectors_that_moved_leave_no_bytes_behind(tmp_path: Path, numbers: range) -> None:
    """Neither of the vectors a mover took out of a space, nor of a space it emptied so."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        others = [number + ALL for number in numbers]
        await put_rows(engine, numbers, OTHER_SPACE, ROWS[others], left=(SPACE,))
        await wait_for_purges(registry)
        await until(lambda: files_with(tmp_path, vectors_of(numbers)) == {})
        kept = files_with(tmp_path, vectors_of(others))

    assert kept["store.sqlite3"] == len(numbers)


async def test_replaced_vectors_and_windows_leave_no_bytes(tmp_path: Path) -> None:
    """Vectors and windows that came anew for stored passages push the older ones out."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        await put_rows(engine, range(70, 80), SPACE, ROWS[270:280])
        await wait_for_purges(registry)
        left = files_with(tmp_path, vectors_of(range(70, 80)))
        for rows in (ROWS[300:310], ROWS[310:320]):
            keys = await keys_of(engine, range(10))
            counts = np.ones(10, np.int64)
            await engine.put_windows(WindowsPutRequest("docs", SPACE, keys, counts, rows))
        await wait_for_purges(registry, 2)
        windows_left = files_with(tmp_path, vectors_of(range(300, 310)))
        windows_kept = files_with(tmp_path, vectors_of(range(310, 320)))

    assert left == {}
    assert windows_left == {}
    assert windows_kept["store.sqlite3"] == 10


async def test_vectors_that_only_came_call_for_no_purge(tmp_path: Path) -> None:
    """Nothing was deleted, so nothing is built anew."""
    registry = CollectorRegistry()
    async with engine_over(tmp_path, SOON, registry=registry) as engine:
        await fill(engine)
        await put_rows(engine, range(ALL), OTHER_SPACE, ROWS[ALL : 2 * ALL])
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        await asyncio.sleep(2 * SOON)

    assert counted(registry, "purged") == 0


async def test_the_receipt_of_a_workspace_names_the_bound(tmp_path: Path) -> None:
    """As that of a document does."""
    async with engine_over(tmp_path, HOURS_4) as engine:
        await fill(engine, documents=1)
        removal = await engine.delete_workspace("docs")

    assert removal.purge_within_s == HOURS_4
