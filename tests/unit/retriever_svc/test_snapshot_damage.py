"""Damaged, foreign and stale snapshots are caught before FAISS reads a byte."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.embedded.data_folder import DataFolder
from retriever_svc.embedded.dense.hnsw_graph import HnswGraph
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.snapshots.snapshot_metrics import SnapshotMetrics
from retriever_svc.embedded.snapshots.snapshot_place import SnapshotPlace
from retriever_svc.embedded.snapshots.snapshots import LoadedGraph, Snapshots
from retriever_svc.embedded.store.store import Store
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import DenseIndexKind, WorkspaceSettings
from tests.fakes.embedded_engines import SMALL, opened
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, unit_rows, upsert
from tests.fakes.snapshot_folders import counted, rejections, snapshot_files

WIDTH = 16
ROWS = unit_rows(400, WIDTH, seed=3)
Mutation = Callable[[Path, random.Random], None]


async def fill(data: Path, slugs: tuple[str, ...] = ("docs",)) -> None:
    """Makes a data folder whose workspaces have a snapshot each."""
    async with opened(data) as engine:
        for slug in slugs:
            await engine.create_workspace(slug, WorkspaceSettings())
            texts = [f"{slug} {number}" for number in range(300)]
            await engine.upsert_document(
                upsert("d", texts, workspace=slug, vectors=[passage_vectors(ROWS[:300].tolist())])
            )
            assert engine.wait_for_graphs(60)


def flip(file: Path, chance: random.Random) -> None:
    """Turns one bit."""
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def truncate(file: Path, chance: random.Random) -> None:
    """Cuts the end off."""
    content = file.read_bytes()
    file.write_bytes(content[: chance.randrange(len(content))])


def zero_block(file: Path, chance: random.Random) -> None:
    """Fills up to 4 KiB, not zero before, with zeros."""
    content = bytearray(file.read_bytes())
    first = chance.randrange(len(content))
    before = bytes(content)
    content[first : first + 4096] = bytes(len(content[first : first + 4096]))
    if content == before:
        content = bytearray(len(before))
    file.write_bytes(content)


def lengthen(file: Path, chance: random.Random) -> None:
    """Adds bytes at the end."""
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.randrange(1, 9_000)))


def swap_blocks(file: Path, chance: random.Random) -> None:
    """Exchanges two halves of the file."""
    content = file.read_bytes()
    half = chance.randrange(1, len(content))
    file.write_bytes(content[half:] + content[:half])


def remove(file: Path, chance: random.Random) -> None:
    """Deletes the file."""
    file.unlink()


MUTATIONS: tuple[Mutation, ...] = (flip, truncate, zero_block, flip, lengthen, swap_blocks, remove)


async def test_every_mutation_is_caught_before_faiss_reads(
    tmp_path: Path, soak: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is loaded, the snapshot is gone, and no further attempt meets it again."""
    data, whole = tmp_path / "data", tmp_path / "whole"
    await fill(data)
    shutil.copytree(data / "workspaces/1/dense", whole)
    store = Store(data / "store.sqlite3")
    identity = store.identity
    store.close()
    place = SnapshotPlace(1, 1, SPACE, WIDTH)
    read = HnswGraph.read
    reads: list[object] = []

    def noted(source: Callable[[int], bytes]) -> HnswGraph:
        reads.append(source)
        return read(source)

    monkeypatch.setattr(HnswGraph, "read", noted)
    chance = random.Random(20260801)
    folder = DataFolder(data)
    try:
        registry = CollectorRegistry()
        metrics = SnapshotMetrics(registry)
        intact = Snapshots(folder, identity, SMALL, metrics)
        intact.sweep()
        assert len(intact.load(place, 10)) == 1
        reads.clear()
        rounds = 200 if soak else 40
        for round_number in range(rounds):
            restored = data / "workspaces/1/dense"
            shutil.rmtree(restored, ignore_errors=True)
            shutil.copytree(whole, restored)
            files = snapshot_files(data)
            # Three of four times the segment: the file that FAISS would read.
            pick = [file for file in files if (file.name == "manifest") == (round_number % 4 == 3)]
            MUTATIONS[round_number % len(MUTATIONS)](chance.choice(pick), chance)
            snapshots = Snapshots(folder, identity, SMALL, metrics)
            snapshots.sweep()
            assert snapshots.load(place, 10) == [], round_number
            assert snapshots.load(place, 10) == [], round_number
            assert snapshot_files(data) == [], round_number
    finally:
        folder.close()

    assert reads == []
    # A snapshot without its manifest is unfinished, not damaged.
    lost_manifests = sum(
        number % 4 == 3 and MUTATIONS[number % len(MUTATIONS)] is remove for number in range(rounds)
    )
    assert counted(registry, "snapshot_rejected") == rounds - lost_manifests


@pytest.mark.parametrize("mutation", [flip, truncate, zero_block])
async def test_a_start_over_a_damaged_snapshot_answers_at_once(
    tmp_path: Path, mutation: Mutation
) -> None:
    """Exactly and saying so, while the graph is built anew; the start after loads it."""
    data = tmp_path / "data"
    await fill(data)
    segment = next(file for file in snapshot_files(data) if file.suffix == ".segment")
    mutation(segment, random.Random(7))
    asked = request("docs 5", {SPACE: ROWS[5]})
    registries = [CollectorRegistry(), CollectorRegistry()]
    texts = []
    for registry in registries:
        engine = EmbeddedEngine(EmbeddedSettings(data, dense=SMALL), registry=registry)
        try:
            texts.append(found(await engine.search_passages(asked))[0])
            assert engine.wait_for_graphs(60)
            space = (await engine.describe_workspace("docs")).spaces[0]
            assert space.active_index_kind is DenseIndexKind.HNSW
        finally:
            engine.close()

    assert texts == ["docs 5", "docs 5"]
    assert [rejections(registry) for registry in registries] == [{"checksum": 1}, {}]
    assert [counted(registry, "graph_built") for registry in registries] == [1, 0]


async def test_searches_are_exact_until_the_graph_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start does not wait for its snapshots, and the answer tells which search it was."""
    rows = unit_rows(1_500, WIDTH, seed=4)
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        texts = [f"docs {number}" for number in range(len(rows))]
        await engine.upsert_document(upsert("d", texts, vectors=[passage_vectors(rows.tolist())]))
        assert engine.wait_for_graphs(60)
    gate = Event()
    load = Snapshots.load

    def late(self: Snapshots, place: SnapshotPlace, seq: int) -> list[LoadedGraph]:
        assert gate.wait(60)
        return load(self, place, seq)

    monkeypatch.setattr(Snapshots, "load", late)
    asked = request("docs 5", {SPACE: rows[5]}, mode=SearchMode.DENSE)
    engine = EmbeddedEngine(EmbeddedSettings(tmp_path, dense=SMALL))
    try:
        at_once = await engine.search_passages(asked)
        gate.set()
        assert engine.wait_for_graphs(60)
        later = await engine.search_passages(asked)
    finally:
        gate.set()
        engine.close()

    assert found(at_once)[0] == found(later)[0] == "docs 5"
    assert [result.lists[0].exact for result in (at_once, later)] == [True, False]


async def test_a_fault_while_loading_leads_to_a_new_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong on the thread that loads, searches are answered, later by a graph."""
    await fill(tmp_path)

    def failing(self: Snapshots, place: SnapshotPlace, seq: int) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Snapshots, "load", failing)
    engine = EmbeddedEngine(EmbeddedSettings(tmp_path, dense=SMALL))
    try:
        assert engine.wait_for_graphs(60)
        result = await engine.search_passages(request("docs 5", {SPACE: ROWS[5]}))
        space = (await engine.describe_workspace("docs")).spaces[0]
    finally:
        engine.close()

    assert found(result)[0] == "docs 5"
    assert space.active_index_kind is DenseIndexKind.HNSW


async def test_snapshots_of_other_workspaces_and_stores_are_foreign(tmp_path: Path) -> None:
    """Exchanged between two workspaces, or brought from another store: dropped by name."""
    data, other = tmp_path / "data", tmp_path / "other"
    await fill(data, ("docs", "more"))
    await fill(other)
    first, second = data / "workspaces/1/dense/1", data / "workspaces/2/dense/2"
    shutil.rmtree(first)
    shutil.copytree(other / "workspaces/1/dense/1", first)
    shutil.rmtree(second)
    shutil.copytree(first, second)
    registry = CollectorRegistry()
    engine = EmbeddedEngine(EmbeddedSettings(data, dense=SMALL), registry=registry)
    try:
        assert engine.wait_for_graphs(60)
        texts = [
            found(
                await engine.search_passages(request(f"{slug} 9", {SPACE: ROWS[9]}, workspace=slug))
            )[0]
            for slug in ("docs", "more")
        ]
    finally:
        engine.close()

    assert texts == ["docs 9", "more 9"]
    assert rejections(registry) == {"foreign": 2}


async def test_a_snapshot_newer_than_the_store_is_dropped(tmp_path: Path) -> None:
    """An older database was put back under it."""
    data, old = tmp_path / "data", tmp_path / "old.sqlite3"
    await fill(data)
    shutil.copy(data / "store.sqlite3", old)
    late = passage_vectors(ROWS[300:].tolist())
    async with opened(data) as engine:
        await engine.upsert_document(upsert("e", [f"e {n}" for n in range(100)], vectors=[late]))
        assert engine.wait_for_graphs(60)
    shutil.copy(old, data / "store.sqlite3")
    registry = CollectorRegistry()
    engine = EmbeddedEngine(EmbeddedSettings(data, dense=SMALL), registry=registry)
    try:
        assert engine.wait_for_graphs(60)
        texts = found(await engine.search_passages(request("e 5", {SPACE: ROWS[305]}, limit=300)))
    finally:
        engine.close()

    assert rejections(registry) == {"newer": 1}
    assert not [text for text in texts if text.startswith("e ")]
