"""Thousands of vectors whose graph is lost: searches answer at once, exactly, and say so."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import SearchMode, SearchResult
from retriever_svc.workspaces import DenseIndexKind, WorkspaceSettings
from tests.fakes.retrieval import SPACE, passage_vectors, request, unit_rows, upsert

COUNT = 6_000
WIDTH = 64
PER_DOCUMENT = 500
ROWS = unit_rows(COUNT, WIDTH, seed=9)
QUERIES = unit_rows(3, WIDTH, seed=10)
LIMIT = 20


@asynccontextmanager
async def engine_over(data: Path) -> AsyncIterator[EmbeddedEngine]:
    """Opens an engine at its defaults and closes it."""
    engine = await asyncio.to_thread(EmbeddedEngine, EmbeddedSettings(data))
    try:
        yield engine
    finally:
        await asyncio.to_thread(engine.close)


async def search(engine: EmbeddedEngine, number: int) -> SearchResult:
    """Searches by the vector of a query alone."""
    asked = request("x", {SPACE: QUERIES[number]}, mode=SearchMode.DENSE, limit=LIMIT)
    return await engine.search_passages(asked)


def rows_of(result: SearchResult) -> list[int]:
    """Returns the rows of `ROWS` that were found, best first."""
    return [int(hit.passage.text.removeprefix("rang ")) for hit in result.hits]


def nearest(number: int) -> list[int]:
    """Returns the nearest rows by brute force."""
    products = ROWS.astype(np.float64) @ QUERIES[number].astype(np.float64)
    return [int(row) for row in np.argsort(-products, kind="stable")[:LIMIT]]


def drop_snapshots(data: Path) -> None:
    """Removes the snapshots of the only workspace."""
    (folder,) = data.glob("workspaces/*/dense")
    shutil.rmtree(folder)


async def test_a_start_without_a_graph_answers_exactly_at_once(tmp_path: Path) -> None:
    """The first answers equal brute force and say that they are exact; the graph follows, and the
    answers say that too."""
    async with engine_over(tmp_path) as engine:
        await engine.create_workspace(
            "docs", WorkspaceSettings(dense_index_kind=DenseIndexKind.HNSW)
        )
        for first in range(0, COUNT, PER_DOCUMENT):
            numbers = range(first, first + PER_DOCUMENT)
            vectors = passage_vectors(ROWS[list(numbers)].tolist())
            texts = [f"rang {number}" for number in numbers]
            await engine.upsert_document(upsert(f"d{first}", texts, vectors=[vectors]))
        assert await asyncio.to_thread(engine.wait_for_graphs, 120)
    drop_snapshots(tmp_path)
    async with engine_over(tmp_path) as engine:
        at_once = [await search(engine, number) for number in range(len(QUERIES))]
        kind = (await engine.describe_workspace("docs")).spaces[0].active_index_kind
        assert await asyncio.to_thread(engine.wait_for_graphs, 120)
        later = [await search(engine, number) for number in range(len(QUERIES))]
        kind_later = (await engine.describe_workspace("docs")).spaces[0].active_index_kind

    assert [result.lists[0].exact for result in at_once] == [True] * len(QUERIES)
    assert [rows_of(result) for result in at_once] == [nearest(n) for n in range(len(QUERIES))]
    assert kind is DenseIndexKind.FLAT
    assert [result.lists[0].exact for result in later] == [False] * len(QUERIES)
    assert kind_later is DenseIndexKind.HNSW
    for number, result in enumerate(later):
        common = len(set(rows_of(result)) & set(nearest(number)))
        assert common == pytest.approx(LIMIT, abs=1)
