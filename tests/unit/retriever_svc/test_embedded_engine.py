"""What the embedded engine adds to the contract: folders, restarts, graphs, full disks."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from chassis.errors import FailedPrecondition
from retriever_svc.documents import UpsertOutcome
from retriever_svc.embedded.data_folder import DataFolder, file_system_of
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.embedded.snapshots.snapshots import LoadedGraph, Snapshots
from retriever_svc.workspaces import DenseIndexKind, WorkspaceSettings
from tests.fakes.embedded_engines import opened
from tests.fakes.retrieval import (
    SPACE,
    found,
    passage_vectors,
    request,
    unit_rows,
    upsert,
    vector,
)


async def fill(engine: EmbeddedEngine, documents: int = 30) -> None:
    """Stores documents of ten passages with vectors."""
    await engine.create_workspace("docs", WorkspaceSettings())
    rows = unit_rows(documents * 10, 4, seed=2).tolist()
    await asyncio.gather(
        *(
            engine.upsert_document(
                upsert(
                    f"doc-{n}",
                    [f"passage {k} du document {n}" for k in range(10)],
                    vectors=[passage_vectors(rows[n * 10 : n * 10 + 10])],
                )
            )
            for n in range(documents)
        )
    )


async def test_a_restart_finds_everything_again(tmp_path: Path) -> None:
    """Hits, scores, counts and numbers of changes are those of before."""
    search = request("passage 3 document 7", {SPACE: vector(1, 2, 0, 1)})
    async with opened(tmp_path) as engine:
        await fill(engine)
        await engine.delete_document("docs", "doc-4")
        engine.wait_for_graphs()
        before = await engine.search_passages(search)
        described = await engine.describe_workspace("docs")
    async with opened(tmp_path) as engine:
        engine.wait_for_graphs()
        after = await engine.search_passages(search)
        assert await engine.describe_workspace("docs") == described
        assert (await engine.upsert_document(upsert("doc-4", ["neuf"]))).outcome is (
            UpsertOutcome.CREATED
        )

    assert after.hits == before.hits
    assert after.applied_seq == before.applied_seq
    assert described.spaces[0].active_index_kind is DenseIndexKind.HNSW


async def test_a_large_space_answers_before_its_graph_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after a start, search is exact and says so."""
    async with opened(tmp_path) as engine:
        await fill(engine)
    monkeypatch.setattr("retriever_svc.embedded.graph_builder.build_graph", _never_built)
    monkeypatch.setattr(Snapshots, "load", _nothing_on_disk)
    async with opened(tmp_path) as engine:
        result = await engine.search_passages(request("passage", {SPACE: vector(1, 0, 0, 0)}))
        described = await engine.describe_workspace("docs")

    assert len(result.hits) >= 20
    assert result.lists[0].exact
    assert described.spaces[0].active_index_kind is DenseIndexKind.FLAT


def _nothing_on_disk(*_: object) -> list[LoadedGraph]:
    return []


def _never_built(*_: object) -> None:
    raise MemoryError("no memory for a graph")


async def test_a_second_engine_is_refused_and_a_later_one_takes_over(tmp_path: Path) -> None:
    """The message names the folder and the process that holds it."""
    async with opened(tmp_path):
        with pytest.raises(FailedPrecondition, match=r"in use by another retriever \(process \d"):
            await asyncio.to_thread(EmbeddedEngine, EmbeddedSettings(tmp_path))
    async with opened(tmp_path) as engine:
        assert await engine.list_workspaces() == ()


def test_another_process_is_refused(tmp_path: Path) -> None:
    """The lock holds between processes, and ends with its holder."""
    code = (
        "import pathlib, sys; from retriever_svc.embedded.data_folder import DataFolder\n"
        "folder = DataFolder(pathlib.Path(sys.argv[1])); print('locked', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(FailedPrecondition, match=f"process {holder.pid}"):
            DataFolder(tmp_path)
        holder.kill()
        holder.wait()
    DataFolder(tmp_path).close()


def test_network_file_systems_are_recognised() -> None:
    """The longest mount point that holds the folder decides."""
    mounts = (
        "22 1 8:1 / / rw - ext4 /dev/root rw\n"
        "30 22 0:40 / /mnt/share rw shared:1 - nfs4 host:/x rw\n"
        "31 30 0:41 / /mnt/share/local\\040disk rw - xfs /dev/sdb rw\n"
    )

    assert file_system_of(Path("/mnt/sharex"), mounts) == "ext4"
    assert file_system_of(Path("/mnt/share/data"), mounts) == "nfs4"
    assert file_system_of(Path("/mnt/share/local disk/data"), mounts) == "xfs"


async def test_an_unusable_folder_is_refused(tmp_path: Path) -> None:
    """A file in its place gives a message, not a traceback of the system."""
    (tmp_path / "file").write_text("")
    with pytest.raises(FailedPrecondition, match="cannot be created"):
        await asyncio.to_thread(EmbeddedEngine, EmbeddedSettings(tmp_path / "file" / "data"))


async def test_a_deleted_workspace_leaves_no_rows_and_no_files(tmp_path: Path) -> None:
    """Its folder is gone at once; its rows go in the background, after a restart too."""
    async with opened(tmp_path) as engine:
        await fill(engine)
        await engine.delete_workspace("docs")
        folders = list((tmp_path / "workspaces").iterdir())
    async with opened(tmp_path):
        reader = sqlite3.connect(tmp_path / "store.sqlite3")
        for _ in range(500):
            rows = reader.execute(
                "SELECT (SELECT COUNT(*) FROM passages), (SELECT COUNT(*) FROM vectors), "
                "(SELECT COUNT(*) FROM documents), (SELECT COUNT(*) FROM workspaces)"
            ).fetchone()
            if not any(rows):
                break
            await asyncio.sleep(0.01)
        reader.close()

    assert folders == []
    assert rows == (0, 0, 0, 0)


async def test_folders_of_workspaces_that_are_gone_are_swept(tmp_path: Path) -> None:
    """A process that died between deletion and clean-up leaves no ghost."""
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
    ghost = tmp_path / "workspaces" / "99" / "lexical"
    ghost.mkdir(parents=True)
    async with opened(tmp_path):
        pass

    assert sorted(entry.name for entry in (tmp_path / "workspaces").iterdir()) == ["1"]


async def test_statistics_follow_deletions_without_being_asked(tmp_path: Path) -> None:
    """Some moments after half of the documents went, BM25 scores are those of a fresh index."""
    used = opened(tmp_path / "used", dead_share_limit=0.01)
    async with used as engine, opened(tmp_path / "fresh") as fresh:
        for one in (engine, fresh):
            await one.create_workspace("docs", WorkspaceSettings())
        for n in range(20):
            given = upsert(f"doc-{n:02}", [f"eau de source numéro {n}"])
            await engine.upsert_document(given)
            if n >= 10:
                await fresh.upsert_document(given)
        for n in range(10):
            await engine.delete_document("docs", f"doc-{n:02}")
        expected = await fresh.search_passages(request("source numéro 15"))
        for _ in range(200):
            result = await engine.search_passages(request("source numéro 15"))
            scores = [hit.bm25_score for hit in result.hits]
            if scores == [hit.bm25_score for hit in expected.hits]:
                break
            await asyncio.sleep(0.01)

    assert found(result) == found(expected)
    assert scores == [hit.bm25_score for hit in expected.hits]


async def test_the_log_is_moved_into_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is written, the write-ahead log stays bounded."""
    monkeypatch.setattr("retriever_svc.embedded.store.write_ahead_log._CHECKPOINT_BYTES", 2**20)
    monkeypatch.setattr("retriever_svc.embedded.store.connections._JOURNAL_LIMIT_BYTES", 2**19)
    log = tmp_path / "store.sqlite3-wal"
    sizes = []
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        for n in range(40):
            await engine.upsert_document(upsert(f"doc-{n}", ["x" * 12_000] * 10))
            sizes.append(log.stat().st_size)

    assert (tmp_path / "store.sqlite3").stat().st_size > 4 * 2**20
    assert max(sizes) < 3 * 2**20
