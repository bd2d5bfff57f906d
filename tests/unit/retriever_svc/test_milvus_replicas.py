"""Replicas over one PostgreSQL and one Milvus: none keeps anything, each sees all."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from chassis.errors import AlreadyExists, FailedPrecondition, NotFound, Unavailable
from retriever_svc.documents import Document, Passage, UpsertOutcome
from retriever_svc.filters import Equals
from retriever_svc.milvus.clients.milvus_connection import MilvusConnection
from retriever_svc.milvus.collections.condition_texts import condition_text
from retriever_svc.milvus.collections.workspace_collections import (
    IndexedPassage,
    WorkspaceCollections,
)
from retriever_svc.milvus.milvus_engine import MilvusEngine
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.workspace_rows import find_workspace
from retriever_svc.spaces import PassageKey, VectorsPutRequest
from retriever_svc.store.rows import DocumentRow, PassageRow
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.milvus_lite import MilvusLite
from tests.fakes.milvus_stores import milvus_settings, new_store
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, upsert, vector

NORTH = vector(1, 0, 0, 0)
SEARCH = request("navire", {SPACE: NORTH})
PATIENCE_S = 60


@asynccontextmanager
async def replica(
    settings: MilvusSettings, registry: CollectorRegistry | None = None
) -> AsyncIterator[MilvusEngine]:
    """Opens an engine and closes it."""
    opened = await asyncio.to_thread(partial(MilvusEngine, settings, registry=registry))
    try:
        yield opened
    finally:
        await asyncio.to_thread(opened.close)


@pytest.fixture
async def replicas() -> AsyncIterator[tuple[MilvusEngine, MilvusEngine]]:
    """Two engines over one store with the workspace `docs`."""
    settings = milvus_settings(new_store())
    async with replica(settings) as one, replica(settings) as other:
        await one.create_workspace("docs", WorkspaceSettings())
        yield one, other


@pytest.fixture
async def frail(tmp_path: Path) -> AsyncIterator[tuple[MilvusLite, MilvusSettings]]:
    """A Milvus of the test's own, and settings for it and an empty store."""
    server = MilvusLite(tmp_path / "milvus")
    await asyncio.to_thread(server.start)
    try:
        yield server, milvus_settings(new_store(), milvus_uri=server.uri, timeout_s=2.0)
    finally:
        await asyncio.to_thread(server.kill)


async def eventually(engine: MilvusEngine, fulfilled: Callable[[list[str]], bool]) -> list[str]:
    """Searches until the texts of the hits are as wished, however long it takes to get there."""
    texts: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        while not fulfilled(texts):
            try:
                texts = found(await engine.search_passages(SEARCH))
            except Unavailable:
                await asyncio.sleep(0.05)
    return texts


async def measured(registry: CollectorRegistry, behind: int) -> None:
    """Waits until so many workspaces are behind."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if registry.get_sample_value("retriever_workspaces_behind") == behind:
                return
            await asyncio.sleep(0.05)


async def test_each_sees_at_once_what_the_other_acknowledged(
    replicas: tuple[MilvusEngine, MilvusEngine],
) -> None:
    """Documents, replacements, vectors that come later, deletions, and whole workspaces."""
    one, other = replicas
    for round_ in range(5):
        rows = passage_vectors([[1, 0, 0, 0]])
        await one.upsert_document(upsert(f"d{round_}", [f"navire {round_}"], vectors=[rows]))
        assert f"navire {round_}" in found(await other.search_passages(SEARCH))
        await other.upsert_document(upsert(f"d{round_}", [f"navire neuf {round_}"]))
        assert f"navire neuf {round_}" in found(await one.search_passages(SEARCH))
        await one.delete_document("docs", f"d{round_}")
        assert found(await other.search_passages(SEARCH)) == []

    await other.delete_workspace("docs")
    with pytest.raises(NotFound):
        await one.search_passages(SEARCH)
    await one.create_workspace("docs", WorkspaceSettings())
    assert found(await other.search_passages(SEARCH)) == []
    with pytest.raises(AlreadyExists):
        await other.create_workspace("docs", WorkspaceSettings())


async def test_changes_through_both_at_once_are_counted_once_each(
    replicas: tuple[MilvusEngine, MilvusEngine],
) -> None:
    """Equal uploads store one document; different ones lose nothing."""
    uploads = [upsert(f"d{number % 10}", [f"navire {number % 10}"]) for number in range(40)]
    receipts = await asyncio.gather(
        *(replicas[at % 2].upsert_document(one) for at, one in enumerate(uploads))
    )
    described = await replicas[0].describe_workspace("docs")

    outcomes = [receipt.outcome for receipt in receipts]
    assert outcomes.count(UpsertOutcome.CREATED) == 10
    assert outcomes.count(UpsertOutcome.UNCHANGED) == 30
    assert (described.document_count, described.passage_count, described.applied_seq) == (10,) * 3
    for engine in replicas:
        assert len((await engine.search_passages(SEARCH)).hits) == 10


async def test_a_lease_holds_for_every_replica(
    replicas: tuple[MilvusEngine, MilvusEngine],
) -> None:
    """Who has it through one may write through the other; nobody else may."""
    one, other = replicas
    await one.upsert_document(upsert("a", ["navire"]))
    page = await one.list_passages_awaiting("docs", SPACE, page_size=10, after=None)
    keys = tuple(PassageKey(p.passage_id, p.passage.embedded_text_hash) for p in page.passages)
    rows = passage_vectors([[1, 0, 0, 0]])

    assert (await one.lease_space("docs", SPACE, "first", 60)).granted
    refused = await other.lease_space("docs", SPACE, "second", 60)
    assert not refused.granted
    assert 0 < refused.remaining_s <= 60
    with pytest.raises(FailedPrecondition, match="lease"):
        await other.put_vectors(VectorsPutRequest("docs", keys, rows, "second"))
    receipt = await other.put_vectors(VectorsPutRequest("docs", keys, rows, "first"))
    assert receipt.stored_count == 1
    await other.lease_space("docs", SPACE, "first", 0)
    assert (await other.lease_space("docs", SPACE, "second", 60)).granted


async def test_a_change_that_milvus_missed_reaches_it_by_any_replica(
    frail: tuple[MilvusLite, MilvusSettings],
) -> None:
    """It is stored and not acknowledged; whoever is there when Milvus is back brings it there."""
    server, settings = frail
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(settings))
        await one.create_workspace("docs", WorkspaceSettings())
        await one.upsert_document(upsert("a", ["navire ancien"]))
        await asyncio.to_thread(server.kill)
        with pytest.raises(Unavailable, match="stored") as missed:
            await one.upsert_document(upsert("b", ["navire neuf"]))
        assert missed.value.reason == "NOT_YET_SEARCHABLE"
        stored = await one.get_document("docs", "b", include_passages=False)
        assert stored.passage_count == 1
        with pytest.raises(Unavailable, match="Milvus is lost"):
            await one.search_passages(SEARCH)
    await asyncio.to_thread(server.start)
    registry = CollectorRegistry()
    async with replica(settings, registry) as other:
        texts = await eventually(other, lambda texts: len(texts) == 2)
        assert set(texts) == {"navire ancien", "navire neuf"}
        receipt = await other.upsert_document(upsert("b", ["navire neuf"]))
        assert receipt.outcome is UpsertOutcome.UNCHANGED
    assert registry.get_sample_value("retriever_workspace_repaired_total") == 1


async def test_a_replica_goes_on_when_milvus_is_back(
    frail: tuple[MilvusLite, MilvusSettings],
) -> None:
    """Without a restart of its own."""
    server, settings = frail
    async with replica(settings) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        rows = passage_vectors([[1, 0, 0, 0]])
        await engine.upsert_document(upsert("a", ["navire"], vectors=[rows]))
        await asyncio.to_thread(server.kill)
        with pytest.raises(Unavailable):
            await engine.search_passages(SEARCH)
        await asyncio.to_thread(server.start)
        assert await eventually(engine, bool) == ["navire"]


async def test_what_milvus_has_lost_is_built_anew(
    frail: tuple[MilvusLite, MilvusSettings], tmp_path: Path
) -> None:
    """From the store alone, vectors included; meanwhile searches are told to come again."""
    server, settings = frail
    async with replica(settings) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        rows = passage_vectors([[1, 0, 0, 0], [0, 1, 0, 0]])
        texts = ["navire rapide", "cargo lent"]
        await engine.upsert_document(upsert("a", texts, vectors=[rows]))
        before = await engine.search_passages(SEARCH)
        await asyncio.to_thread(server.kill)
        (tmp_path / "milvus").rename(tmp_path / "lost")
        await asyncio.to_thread(server.start)
        assert await eventually(engine, lambda texts: len(texts) == 2) == found(before)
        after = await engine.search_passages(SEARCH)

    assert [hit.places for hit in after.hits] == [hit.places for hit in before.hits]


async def test_a_change_after_a_loss_is_not_lost_with_it(
    frail: tuple[MilvusLite, MilvusSettings], tmp_path: Path
) -> None:
    """The first one after the loss notices; it and everything before it are found in the end."""
    server, settings = frail
    async with replica(settings) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["navire ancien"]))
        await asyncio.to_thread(server.kill)
        (tmp_path / "milvus").rename(tmp_path / "lost")
        await asyncio.to_thread(server.start)
        with pytest.raises(Unavailable, match="stored"):
            await engine.upsert_document(upsert("b", ["navire neuf"]))
        texts = await eventually(engine, lambda texts: len(texts) == 2)

    assert set(texts) == {"navire ancien", "navire neuf"}


async def test_what_only_milvus_holds_is_no_hit() -> None:
    """An entry of a passage that is gone, and one that tells other facts of its document than the
    store: a filter holds by what the store says.
    """
    settings = milvus_settings(new_store())
    async with replica(settings) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["navire"], category="public"))
        await engine.upsert_document(upsert("b", ["navire gris"], category="secret"))
        stored = await engine.get_document("docs", "b", include_passages=True)
        with (
            closing(PostgresStore(settings.store_url, pool_size=1)) as store,
            closing(
                MilvusConnection(settings.milvus_uri, token="", database="", timeout_s=10)
            ) as milvus,
        ):
            store.prepare()
            with store.snapshot() as connection:
                workspace = find_workspace(connection, "docs")
            collections = WorkspaceCollections(milvus, store.identity, settings)
            lying = DocumentRow(1, Document("x", category="public"), 1, stored.updated_at)
            for passage_id in (stored.passages[0].passage_id, 1_000_000):
                row = PassageRow(passage_id, 1, Passage(0, "navire"))
                collections.write(workspace, [IndexedPassage(row, lying, {})], [])
            name = collections.terms_name(workspace.id)
            condition = Equals("category", "public")
            assert len(milvus.ids(name, condition_text(condition), limit=10)) == 3

        public = await engine.search_passages(request("navire", filter=condition))
        everything = await engine.search_passages(request("navire"))

    assert found(public) == ["navire"]
    assert sorted(found(everything)) == ["navire", "navire gris"]
    assert public.total_count == 1
    assert [one.hit_count for one in public.lists] == [1]


async def test_what_one_workspace_lacks_does_not_hold_up_the_others(
    frail: tuple[MilvusLite, MilvusSettings],
) -> None:
    """Both are behind while Milvus is lost, which is measured; both catch up."""
    server, settings = frail
    registry = CollectorRegistry()
    async with replica(settings, registry) as engine:
        for slug in ("docs", "more"):
            await engine.create_workspace(slug, WorkspaceSettings())
        await asyncio.to_thread(server.kill)
        for slug in ("docs", "more"):
            with pytest.raises(Unavailable, match="stored"):
                await engine.upsert_document(upsert("a", ["navire"], workspace=slug))
        await measured(registry, 2)
        await asyncio.to_thread(server.start)
        await measured(registry, 0)
        for slug in ("docs", "more"):
            result = await engine.search_passages(request("navire", workspace=slug))
            assert found(result) == ["navire"]
    assert registry.get_sample_value("retriever_workspace_repaired_total") == 2
    assert registry.get_sample_value("retriever_workspace_repair_failed_total") != 0
