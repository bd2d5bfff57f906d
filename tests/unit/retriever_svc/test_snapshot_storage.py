"""Graphs that hold their vectors in fewer bytes: what they find is ordered by the stored ones."""

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.embedded.dense.dense_settings import VectorStorage
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.embedded_engines import SMALL
from tests.fakes.retrieval import SPACE, passage_vectors, request, unit_rows, upsert
from tests.fakes.snapshot_folders import counted, rejections

WIDTH = 64
ROWS = unit_rows(3_000, WIDTH, seed=11)
COMPACT = [VectorStorage.FLOAT16, VectorStorage.INT8]


@pytest.mark.parametrize("storage", COMPACT)
def test_a_vector_is_rounded_once(storage: VectorStorage) -> None:
    """What a graph gives back has the same bytes in any other graph: rebuilding loses nothing."""
    graph = HnswGraph.empty(WIDTH, replace(SMALL, vector_storage=storage))
    graph.add(ROWS[:100])
    given_back = graph.vectors()[np.arange(100)]

    assert graph.lossy
    assert not (given_back == ROWS[:100]).all()
    assert np.abs(given_back - ROWS[:100]).max() < 0.01
    assert (graph.rounded(ROWS[:100]) == given_back).all()
    assert (graph.rounded(given_back) == given_back).all()


@pytest.mark.parametrize("storage", COMPACT)
async def test_answers_have_the_cosines_of_the_store(
    tmp_path: Path, storage: VectorStorage
) -> None:
    """Recall of at least 0.95, exact cosines, before and after a restart that builds nothing."""
    settings = EmbeddedSettings(tmp_path, dense=replace(SMALL, vector_storage=storage))
    registry = CollectorRegistry()
    for start in range(2):
        engine = await asyncio.to_thread(EmbeddedEngine, settings, registry=registry)
        try:
            if start == 0:
                await engine.create_workspace("docs", WorkspaceSettings())
                texts = [str(number) for number in range(len(ROWS))]
                rows = passage_vectors(ROWS.tolist())
                await engine.upsert_document(upsert("d", texts, vectors=[rows]))
            assert await asyncio.to_thread(engine.wait_for_graphs, 60)
            shares = [await _checked_recall(engine, query) for query in ROWS[::100]]
        finally:
            await asyncio.to_thread(engine.close)
        assert float(np.mean(shares)) >= 0.95

    assert (counted(registry, "snapshot_loaded"), counted(registry, "graph_built")) == (1, 1)
    assert rejections(registry) == {}


async def _checked_recall(engine: EmbeddedEngine, query: npt.NDArray[np.float32]) -> float:
    asked = request("x", {SPACE: query}, mode=SearchMode.DENSE, candidate_count=20, limit=20)
    result = await engine.search_passages(asked)
    assert not result.lists[0].exact
    numbers = [int(hit.passage.text) for hit in result.hits]
    cosines = [hit.space_scores[0].cosine for hit in result.hits]
    truth = ROWS @ query
    assert cosines == pytest.approx(truth[numbers].tolist(), abs=1e-6)
    assert cosines == sorted(cosines, reverse=True)
    return len(set(numbers) & set(np.argsort(-truth)[:20].tolist())) / 20
