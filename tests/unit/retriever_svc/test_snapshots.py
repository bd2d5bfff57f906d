"""Snapshots of dense indexes: written, loaded, outdated, swept, deleted with their workspace."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import DenseIndexKind, WorkspaceSettings
from tests.fakes.embedded_engines import SMALL
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, unit_rows, upsert
from tests.fakes.snapshot_folders import counted, rejections, snapshot_files

WIDTH = 16
ROWS = unit_rows(400, WIDTH, seed=3)


@asynccontextmanager
async def engine_over(
    data: Path, dense: DenseSettings = SMALL, registry: CollectorRegistry | None = None
) -> AsyncIterator[EmbeddedEngine]:
    """Opens an engine, waits for its graphs, and closes it."""
    settings = EmbeddedSettings(data, dense=dense)
    engine = await asyncio.to_thread(EmbeddedEngine, settings, registry=registry)
    try:
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        yield engine
    finally:
        await asyncio.to_thread(engine.close)


async def put(
    engine: EmbeddedEngine, rows: range, *, workspace: str = "docs", shift: int = 0
) -> None:
    """Stores documents of ten passages; document `d<first>` holds rows from `first` on."""
    for first in rows[::10]:
        numbers = range(first, min(first + 10, rows.stop))
        rows_put = ROWS[[(number + shift) % len(ROWS) for number in numbers]]
        vectors = passage_vectors(rows_put.tolist())
        texts = [f"{workspace} {number} {shift}" for number in numbers]
        await engine.upsert_document(
            upsert(f"d{first}", texts, workspace=workspace, vectors=[vectors])
        )


async def nearest(
    engine: EmbeddedEngine, query: npt.NDArray[np.float32], *, workspace: str = "docs"
) -> list[str]:
    """Returns the texts nearest to the query."""
    asked = request("x", {SPACE: query}, workspace=workspace, mode=SearchMode.DENSE, limit=20)
    return found(await engine.search_passages(asked))


async def answers(engine: EmbeddedEngine) -> list[list[str]]:
    """Returns the answers to ten queries."""
    return [await nearest(engine, query) for query in unit_rows(10, WIDTH, seed=3)]


async def active_kind(engine: EmbeddedEngine) -> DenseIndexKind:
    """Returns what answers dense searches of `docs`."""
    return (await engine.describe_workspace("docs")).spaces[0].active_index_kind


async def fill(data: Path, count: int = 300, kind: DenseIndexKind = DenseIndexKind.AUTO) -> None:
    """Makes a data folder with one workspace of so many vectors, and its snapshot."""
    async with engine_over(data) as engine:
        await engine.create_workspace("docs", WorkspaceSettings(dense_index_kind=kind))
        await put(engine, range(count))
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)


async def test_a_restart_loads_the_graph_and_builds_none(tmp_path: Path) -> None:
    """The same answers, from the graph that was written."""
    async with engine_over(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await put(engine, range(300))
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        before = await answers(engine)
    registry = CollectorRegistry()
    async with engine_over(tmp_path, registry=registry) as engine:
        after = await answers(engine)
        kind = await active_kind(engine)

    assert after == before
    assert kind is DenseIndexKind.HNSW
    assert (counted(registry, "snapshot_loaded"), counted(registry, "graph_built")) == (1, 0)


async def test_what_changed_after_the_snapshot_is_taken_from_the_store(tmp_path: Path) -> None:
    """Deleted, replaced and new passages: the old snapshot brings nothing back."""
    data, kept = tmp_path / "data", tmp_path / "kept"
    await fill(data)
    shutil.copytree(data / "workspaces/1/dense", kept)
    async with engine_over(data) as engine:
        for first in range(0, 50, 10):
            await engine.delete_document("docs", f"d{first}")
        await put(engine, range(50, 90), shift=200)
        await put(engine, range(300, 330))
        before = await answers(engine)
    shutil.rmtree(data / "workspaces/1/dense")
    shutil.copytree(kept, data / "workspaces/1/dense")
    registry = CollectorRegistry()
    async with engine_over(data, registry=registry) as engine:
        after = await answers(engine)
        own = [await nearest(engine, row) for row in ROWS[90:330]]

    assert after == before
    assert [texts[0] for texts in own[:200]] == [f"docs {number} 0" for number in range(90, 290)]
    assert (counted(registry, "snapshot_loaded"), rejections(registry)) == (1, {})


@pytest.mark.parametrize("count", [1, 2])
async def test_a_tiny_index_is_loaded_at_every_start(tmp_path: Path, count: int) -> None:
    """An unusual shape is no fault: it is not built again, and not written again."""
    await fill(tmp_path, count, DenseIndexKind.HNSW)
    async with engine_over(tmp_path):
        pass  # so few new vectors have a graph from the next start on
    registry = CollectorRegistry()
    for _ in range(5):
        async with engine_over(tmp_path, registry=registry) as engine:
            assert await nearest(engine, ROWS[0]) == [f"docs {number} 0" for number in range(count)]

    assert counted(registry, "snapshot_loaded") == 5
    assert [counted(registry, name) for name in ("graph_built", "snapshot_written")] == [0, 0]
    assert rejections(registry) == {}


async def test_an_index_without_live_vectors_leaves_no_snapshot(tmp_path: Path) -> None:
    """Everything deleted: nothing to load, nothing rejected, start after start."""
    await fill(tmp_path, 40, DenseIndexKind.HNSW)
    async with engine_over(tmp_path) as engine:
        for first in range(0, 40, 10):
            await engine.delete_document("docs", f"d{first}")
    registry = CollectorRegistry()
    for _ in range(5):
        async with engine_over(tmp_path, registry=registry) as engine:
            assert await nearest(engine, ROWS[0]) == []

    assert snapshot_files(tmp_path) == []
    assert (counted(registry, "graph_built"), rejections(registry)) == (0, {})


async def test_stray_files_are_swept_at_the_start(tmp_path: Path) -> None:
    """Temporary files and segments that no manifest names are gone; the snapshot is used."""
    await fill(tmp_path)
    whole = snapshot_files(tmp_path)
    folder = whole[0].parent
    for name in ("manifest.tmp", "0.segment.tmp", "0.segment"):
        (folder / name).write_bytes(b"torn")
    (folder.parent / "77").mkdir()
    (folder.parent / "77" / "0.segment").write_bytes(b"torn")
    registry = CollectorRegistry()
    async with engine_over(tmp_path, registry=registry):
        pass

    assert snapshot_files(tmp_path) == whole
    assert (counted(registry, "snapshot_loaded"), rejections(registry)) == (1, {})


async def test_a_deleted_workspace_leaves_no_snapshot(tmp_path: Path) -> None:
    """The files go with it; those of another workspace stay."""
    await fill(tmp_path)
    async with engine_over(tmp_path) as engine:
        await engine.create_workspace("other", WorkspaceSettings())
        await put(engine, range(200), workspace="other")
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        await engine.delete_workspace("docs")

    assert {file.relative_to(tmp_path).parts[1] for file in snapshot_files(tmp_path)} == {"2"}


async def test_an_index_that_became_small_leaves_no_snapshot(tmp_path: Path) -> None:
    """Its graph is given up; nothing of it is written at the end or found at the next start."""
    await fill(tmp_path)
    async with engine_over(tmp_path) as engine:
        for first in range(0, 270, 10):
            await engine.delete_document("docs", f"d{first}")
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        assert await active_kind(engine) is DenseIndexKind.FLAT

    assert snapshot_files(tmp_path) == []


async def test_a_folder_among_the_files_does_not_block_the_start(tmp_path: Path) -> None:
    """What cannot be swept stays where it is; the snapshot is used all the same."""
    await fill(tmp_path)
    stray = snapshot_files(tmp_path)[0].parent / "stray"
    stray.mkdir()
    registry = CollectorRegistry()
    async with engine_over(tmp_path, registry=registry):
        pass

    assert (counted(registry, "snapshot_loaded"), stray.is_dir()) == (1, True)


async def test_other_graph_settings_build_another_graph_once(tmp_path: Path) -> None:
    """The search breadth shapes no graph; the number of neighbours does."""
    await fill(tmp_path)
    wider = replace(SMALL, neighbour_count=8)
    reasons = []
    for settings in (replace(SMALL, search_breadth=64), wider, wider):
        registry = CollectorRegistry()
        async with engine_over(tmp_path, settings, registry) as engine:
            assert await active_kind(engine) is DenseIndexKind.HNSW
        reasons.append(rejections(registry))

    assert reasons == [{}, {"settings": 1}, {}]


async def test_an_index_over_the_row_limit_has_no_snapshot(tmp_path: Path) -> None:
    """It answers all the same."""
    async with engine_over(tmp_path, replace(SMALL, snapshot_row_limit=100)) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await put(engine, range(300))
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        assert await active_kind(engine) is DenseIndexKind.HNSW

    assert snapshot_files(tmp_path) == []


async def test_a_snapshot_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    """A file stands where its folder should be: the graph answers, the next start builds it."""
    async with engine_over(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        (tmp_path / "workspaces/1/dense").write_bytes(b"")
        await put(engine, range(300))
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
        before = await answers(engine)
    registry = CollectorRegistry()
    async with engine_over(tmp_path, registry=registry) as engine:
        assert await answers(engine) == before

    assert counted(registry, "graph_built") >= 1
