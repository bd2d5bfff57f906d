"""Sampled lists are repeated exactly in the background, and never in the way."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from chassis.settings import SettingsError, read_settings
from retriever_svc.documents import FloatMatrix
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.embedded.dense.pinned_rows import recall_of
from retriever_svc.embedded.dense.space_index import SpaceIndex
from retriever_svc.embedded.dense.subset import Subset
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.filters import Equals
from retriever_svc.searches import SearchMode
from retriever_svc.settings import RetrieverSettings
from retriever_svc.workspaces import DenseIndexKind, WorkspaceSettings
from tests.fakes.retrieval import SPACE, passage_vectors, request, unit_rows, upsert

# Graphs of fewer rows are searched exactly.
COUNT = 1_200
WIDTH = 4
# So narrow a search misses much.
NARROW = DenseSettings(
    flat_row_limit=0,
    growing_row_limit=500,
    search_breadth=1,
    neighbour_count=2,
    construction_breadth=8,
)


def value(registry: CollectorRegistry, name: str, **labels: str) -> float:
    """Returns a sample of the registry, 0 where there is none yet."""
    return registry.get_sample_value(name, labels) or 0.0


def sampled(registry: CollectorRegistry) -> tuple[float, float]:
    """Returns how many lists of the workspace were measured, and the sum of their recall."""
    labels = {"workspace": "docs", "space": SPACE}
    return (
        value(registry, "retriever_recall_at_k_count", **labels),
        value(registry, "retriever_recall_at_k_sum", **labels),
    )


@contextmanager
def opened(path: Path, share: float, registry: CollectorRegistry) -> Iterator[EmbeddedEngine]:
    """Opens an engine with narrow graphs over a folder."""
    settings = EmbeddedSettings(path, dense=NARROW, recall_sample_share=share)
    engine = EmbeddedEngine(settings, registry=registry)
    try:
        yield engine
    finally:
        engine.close()


async def _fill(engine: EmbeddedEngine) -> FloatMatrix:
    """Puts nine of ten rows into a graph, and the others beside it."""
    rows = unit_rows(COUNT, WIDTH, seed=2)
    await engine.create_workspace("docs", WorkspaceSettings(dense_index_kind=DenseIndexKind.HNSW))
    for first in (0, COUNT - 60):
        last = COUNT - 60 if first == 0 else COUNT
        vectors = [passage_vectors(rows[first:last].tolist())]
        texts = [f"texte {n}" for n in range(first, last)]
        await engine.upsert_document(upsert(f"d{first}", texts, vectors=vectors, category="x"))
        await asyncio.to_thread(engine.wait_for_graphs)
    return rows


async def test_recall_is_that_of_the_exact_search(tmp_path: Path) -> None:
    """Measured per workspace and space, with the same numbers an exact search gives."""
    registry = CollectorRegistry()
    with opened(tmp_path, 1.0, registry) as engine:
        rows = await _fill(engine)
        expected, told = 0.0, 0
        for query in rows[:20]:
            result = await engine.search_passages(
                request("x", {SPACE: query}, mode=SearchMode.DENSE, candidate_count=20)
            )
            assert not result.lists[0].exact
            found = {int(hit.passage.text.split()[1]) for hit in result.hits}
            truth = set(np.argsort(-(rows @ query), kind="stable")[:20].tolist())
            expected += len(found & truth) / 20
            told += 1
            await asyncio.to_thread(engine.wait_for_samples)
        count, total = sampled(registry)

    assert count == told
    assert total == pytest.approx(expected, abs=1e-6)
    assert total < count
    assert value(registry, "retriever_recall_samples_dropped_total") == 0


async def test_filtered_and_exact_lists_are_measured_too(tmp_path: Path) -> None:
    """A filter bounds the truth as well; a list that is exact has recall 1."""
    registry = CollectorRegistry()
    with opened(tmp_path, 1.0, registry) as engine:
        rows = await _fill(engine)
        for category in ("x", "y"):
            await engine.search_passages(
                request("x", {SPACE: rows[0]}, filter=Equals("category", category))
            )
        await asyncio.to_thread(engine.wait_for_samples)
        count, total = sampled(registry)

    assert count == 2
    assert total == pytest.approx(2.0)


async def test_no_share_means_no_sampler(tmp_path: Path) -> None:
    """Nothing is drawn, noted or measured, and no metric appears."""
    registry = CollectorRegistry()
    with opened(tmp_path, 0.0, registry) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.search_passages(request("x"))
        engine.wait_for_samples()

    assert "recall" not in {metric.name.split("_")[1] for metric in registry.collect()}


async def _searched(engine: EmbeddedEngine, rows: FloatMatrix, times: int) -> None:
    for query in rows[:times]:
        await engine.search_passages(request("x", {SPACE: query}))


async def test_searches_do_not_wait_and_what_is_too_much_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the measuring stuck, searches go on; samples beyond the queue are counted as dropped."""
    registry, begun, go_on = CollectorRegistry(), Event(), Event()

    def stuck(*arguments: Any) -> float:
        begun.set()
        assert go_on.wait(30)
        return recall_of(*arguments)

    with opened(tmp_path, 1.0, registry) as engine:
        rows = await _fill(engine)
        monkeypatch.setattr("retriever_svc.embedded.recall_sampler.recall_of", stuck)
        await _searched(engine, rows, 1)
        assert await asyncio.to_thread(begun.wait, 30)
        await _searched(engine, rows, 20)
        dropped = value(registry, "retriever_recall_samples_dropped_total")
        go_on.set()
        await asyncio.to_thread(engine.wait_for_samples)

    assert dropped == 20 - 8
    assert sampled(registry)[0] == 1 + 8


async def test_a_failure_is_counted_and_the_next_sample_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measuring outlives what goes wrong with one sample."""
    registry = CollectorRegistry()
    faults = [MemoryError("no room")]

    def failing_once(*arguments: Any) -> float:
        if faults:
            raise faults.pop()
        return recall_of(*arguments)

    with opened(tmp_path, 1.0, registry) as engine:
        rows = await _fill(engine)
        monkeypatch.setattr("retriever_svc.embedded.recall_sampler.recall_of", failing_once)
        await _searched(engine, rows, 3)
        await asyncio.to_thread(engine.wait_for_samples)

    assert value(registry, "retriever_recall_samples_failed_total") == 1
    assert sampled(registry)[0] == 2


async def test_closing_gives_up_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine closes with a full queue; only the sample in progress is finished."""
    registry, begun, go_on = CollectorRegistry(), Event(), Event()

    def slow(*_: Any) -> float:
        begun.set()
        assert go_on.wait(30)
        return 1.0

    with opened(tmp_path, 1.0, registry) as engine:
        rows = await _fill(engine)
        monkeypatch.setattr("retriever_svc.embedded.recall_sampler.recall_of", slow)
        await _searched(engine, rows, 10)
        assert await asyncio.to_thread(begun.wait, 30)
        closing = asyncio.create_task(asyncio.to_thread(engine.close))
        go_on.set()
        await closing

    assert sampled(registry)[0] < 10


async def test_a_share_of_the_searches_is_drawn(tmp_path: Path) -> None:
    """About as many as the share says."""
    registry = CollectorRegistry()
    with opened(tmp_path, 0.25, registry) as engine:
        rows = await _fill(engine)
        for query in rows[:200]:
            await engine.search_passages(request("x", {SPACE: query}, candidate_count=1))
            await asyncio.to_thread(engine.wait_for_samples)

    assert 20 <= sampled(registry)[0] <= 90


def test_rows_are_pinned_as_they_were() -> None:
    """What is added, replaced or removed afterwards changes nothing; ties count as found."""
    index = SpaceIndex(2, DenseIndexKind.FLAT, DenseSettings())
    index.put(np.arange(4), np.array([[1, 0], [1, 0], [0.6, 0.8], [0, 1]], np.float32))
    query = np.array([1, 0], np.float32)
    pinned, among = index.pinned([0, 2]), index.pinned([2])
    index.put(np.array([9]), np.array([[1, 0]], np.float32))
    index.remove(np.array([0, 1]))

    assert recall_of(pinned, query, 2, None) == 0.5
    assert recall_of(pinned, query, 1, None) == 1.0
    assert recall_of(among, query, 3, Subset(np.array([2, 3]))) == 0.5
    assert recall_of(pinned, query, 3, Subset(np.array([], np.int64))) == 1.0
    assert recall_of((), query, 3, None) == 1.0


def test_the_share_is_a_setting() -> None:
    """From none, the default, to all."""
    name = "JUSTESSE_RETRIEVER_RECALL_SAMPLE_SHARE"
    assert read_settings(RetrieverSettings, {}).embedded().recall_sample_share == 0
    assert read_settings(RetrieverSettings, {name: "0.01"}).embedded().recall_sample_share == 0.01
    for share in ("-0.1", "1.1"):
        with pytest.raises(SettingsError, match="RECALL_SAMPLE_SHARE"):
            read_settings(RetrieverSettings, {name: share})
