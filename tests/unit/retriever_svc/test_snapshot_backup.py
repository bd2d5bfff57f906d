"""Backups of the store, taken beside a retriever that writes, and restores of them."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from retriever_svc.backup import main
from retriever_svc.documents import UpsertOutcome
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.searches import SearchResult
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.embedded_engines import SMALL, opened
from tests.fakes.retrieval import SPACE, passage_vectors, request, unit_rows, upsert
from tests.fakes.snapshot_folders import rejections

WIDTH = 16
ROWS = unit_rows(300, WIDTH, seed=3)


async def put(engine: EmbeddedEngine, number: int) -> None:
    """Stores document `number`, with the ten vectors that follow."""
    texts = [f"passage{number}x{place}" for place in range(10)]
    rows = passage_vectors(ROWS[number % 290 : number % 290 + 10].tolist())
    await engine.upsert_document(upsert(f"d{number}", texts, vectors=[rows]))


async def put_all(engine: EmbeddedEngine, numbers: range) -> None:
    """Stores documents together, which is faster than one after the other."""
    await asyncio.gather(*(put(engine, number) for number in numbers))


async def answers(engine: EmbeddedEngine) -> list[list[tuple[str, float]]]:
    """Returns texts and fused scores of some searches."""
    assert await asyncio.to_thread(engine.wait_for_graphs, 60)

    def described(result: SearchResult) -> list[tuple[str, float]]:
        return [(hit.passage.text, hit.fused_score) for hit in result.hits]

    return [
        described(
            await engine.search_passages(request(f"passage{number}x3", {SPACE: ROWS[number]}))
        )
        for number in range(0, 200, 20)
    ]


async def test_a_restored_backup_gives_the_same_answers(tmp_path: Path) -> None:
    """The program copies beside a running engine; what comes later is not in it."""
    data, copy = tmp_path / "data", tmp_path / "new" / "copy"
    async with opened(data) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await put_all(engine, range(0, 200, 10))
        await engine.delete_document("docs", "d50")
        before = await answers(engine)
        program = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "retriever_svc.backup", str(data), str(copy)],
            capture_output=True,
            text=True,
        )
        await put(engine, 1_000)
    async with opened(copy) as engine:
        after = await answers(engine)
        page = await engine.list_documents("docs", page_size=100, after=None)

    assert (program.returncode, program.stderr) == (0, "")
    assert f"JUSTESSE_RETRIEVER_DATA_FOLDER={copy}" in program.stdout
    assert after == before
    assert len(page.documents) == 19


async def test_a_backup_holds_whole_changes_up_to_one_moment(tmp_path: Path) -> None:
    """Taken while documents arrive: all that was acknowledged before, a prefix of the rest."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    async with opened(data) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await put_all(engine, range(30))
        begun = asyncio.Event()

        async def write_on() -> None:
            for number in range(30, 50):
                await put(engine, number)
                if number == 34:
                    begun.set()

        writing = asyncio.create_task(write_on())
        await begun.wait()
        assert await asyncio.to_thread(main, [str(data), str(copy)]) == 0
        await writing
    async with opened(copy) as engine:
        workspace = await engine.describe_workspace("docs")
        page = await engine.list_documents("docs", page_size=100, after=None)
        repeated = await engine.upsert_document(upsert("new", ["texte"]))

    numbers = sorted(int(stored.document.external_id[1:]) for stored in page.documents)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 35
    assert workspace.passage_count == 10 * len(numbers) == workspace.spaces[0].passage_count
    assert repeated.outcome is UpsertOutcome.CREATED


async def test_indexes_of_the_original_are_not_taken_for_those_of_the_copy(tmp_path: Path) -> None:
    """A backup put back over a folder whose indexes ran on: they are built anew."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    async with opened(data) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await put_all(engine, range(0, 200, 10))
        before = await answers(engine)
        assert await asyncio.to_thread(main, [str(data), str(copy)]) == 0
        await asyncio.gather(
            *(engine.delete_document("docs", f"d{number}") for number in range(0, 190, 10))
        )
        await put_all(engine, range(1, 191, 10))
        assert await asyncio.to_thread(engine.wait_for_graphs, 60)
    shutil.copytree(data / "workspaces", copy / "workspaces")
    registry = CollectorRegistry()
    settings = EmbeddedSettings(copy, dense=SMALL)
    engine = await asyncio.to_thread(EmbeddedEngine, settings, registry=registry)
    try:
        after = await answers(engine)
    finally:
        await asyncio.to_thread(engine.close)

    assert after == before
    assert rejections(registry) == {"foreign": 1}


def test_mistakes_are_told_and_change_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No store to copy, or a target that holds one."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "store.sqlite3").write_bytes(b"precious")

    assert main([str(tmp_path / "empty"), str(tmp_path / "copy")]) == 1
    assert main([str(tmp_path / "full"), str(tmp_path / "full")]) == 1
    assert not (tmp_path / "copy").exists()
    assert (tmp_path / "full" / "store.sqlite3").read_bytes() == b"precious"
    assert capsys.readouterr().err.count("no backup: ") == 2


def test_a_damaged_store_gives_no_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be read is not kept as a backup."""
    (tmp_path / "store.sqlite3").write_bytes(b"no database at all" * 1_000)

    assert main([str(tmp_path), str(tmp_path / "copy")]) == 1
    assert list((tmp_path / "copy").iterdir()) == []
    assert "damaged" in capsys.readouterr().err
