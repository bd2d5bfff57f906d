"""Settings of the fusion: kept with the workspace, changed for one search, told by every answer."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from chassis.errors import NotFound
from retriever_svc.embedded.embedded_engine import EmbeddedEngine
from retriever_svc.embedded.embedded_settings import EmbeddedSettings
from retriever_svc.engine import RetrievalEngine
from retriever_svc.fusion_settings import FusionChoices, FusionSettings
from retriever_svc.searches import PassageHit, SearchResult
from retriever_svc.workspaces import WorkspaceSettings, WorkspaceUpdate
from tests.fakes.earlier_schemas import set_back
from tests.fakes.embedded_engines import opened
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    upsert,
    vector,
)

NORTH = vector(1, 0, 0, 0)
WORDS_FIRST = FusionChoices(rank_constant=10.0, lexical_weight=3.0, dense_weight=0.5)


async def _fill(engine: RetrievalEngine) -> None:
    """One passage leads by its vector, the other by its words."""
    rows: list[list[float]] = [[1, 0, 0, 0], [0, 1, 0, 0]]
    await engine.upsert_document(upsert("a", ["cargo", "navire"], vectors=[passage_vectors(rows)]))


async def _ask(engine: RetrievalEngine, fusion: FusionChoices | None = None) -> SearchResult:
    return await engine.search_passages(
        request("navire", {SPACE: NORTH}, fusion=fusion or FusionChoices())
    )


async def test_a_workspace_fuses_as_its_settings_say(engine: RetrievalEngine) -> None:
    """An update counts from the next search on, in the order and in every contribution."""
    await _fill(engine)
    before = await _ask(engine)
    workspace = await engine.update_workspace(WorkspaceUpdate("docs", WORDS_FIRST))
    after = await _ask(engine)

    assert workspace.settings.fusion == FusionSettings(10.0, 3.0, 0.5)
    assert after.fusion == workspace.settings.fusion
    assert before.fusion == FusionSettings()
    assert [(ranked.space_id, ranked.weight) for ranked in after.lists] == [(SPACE, 0.5), ("", 3.0)]
    assert found(after) == ["navire", "cargo"]
    assert after.hits[0].fused_score == pytest.approx(3 / 11 + 0.5 / 12)
    assert after.hits[1].fused_score == pytest.approx(0.5 / 11)


async def test_a_search_changes_single_settings_for_itself(engine: RetrievalEngine) -> None:
    """What it does not name stays as the workspace has it, for the next search too."""
    await _fill(engine)
    await engine.update_workspace(WorkspaceUpdate("docs", WORDS_FIRST))
    changed = await _ask(engine, FusionChoices(lexical_weight=0.0))

    assert changed.fusion == FusionSettings(10.0, 0.0, 0.5)
    assert [ranked.space_id for ranked in changed.lists] == [SPACE]
    assert (await _ask(engine)).fusion == FusionSettings(10.0, 3.0, 0.5)


async def test_a_space_may_have_a_weight_of_its_own(engine: RetrievalEngine) -> None:
    """It replaces the weight of spaces; 0 leaves the space out."""
    await _fill(engine)
    other = passage_vectors([[1, 0, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("b", ["quai"], vectors=[other]))
    both = {SPACE: NORTH, OTHER_SPACE: NORTH}
    for weights, expected in (
        ({OTHER_SPACE: 2.0}, [(SPACE, 1.0), (OTHER_SPACE, 2.0), ("", 1.0)]),
        ({OTHER_SPACE: 0.0}, [(SPACE, 1.0), ("", 1.0)]),
    ):
        result = await engine.search_passages(
            request("navire", both, fusion=FusionChoices(space_weights=weights))
        )
        assert [(ranked.space_id, ranked.weight) for ranked in result.lists] == expected


async def test_updates_change_what_they_name(engine: RetrievalEngine) -> None:
    """One after the other adds up; a reset begins from the defaults; nothing else moves."""
    before = await engine.describe_workspace("docs")
    await engine.update_workspace(WorkspaceUpdate("docs", FusionChoices(rank_constant=7.0)))
    await engine.update_workspace(
        WorkspaceUpdate("docs", FusionChoices(space_weights={SPACE: 2.0, OTHER_SPACE: 3.0}))
    )
    added = await engine.update_workspace(
        WorkspaceUpdate("docs", FusionChoices(space_weights={SPACE: 4.0}))
    )
    reset = await engine.update_workspace(
        WorkspaceUpdate("docs", FusionChoices(dense_weight=2.0), reset_fusion=True)
    )

    assert added.settings.fusion == FusionSettings(7.0, space_weights={SPACE: 4.0})
    assert reset.settings.fusion == FusionSettings(dense_weight=2.0)
    assert (reset.applied_seq, reset.created_at) == (before.applied_seq, before.created_at)
    with pytest.raises(NotFound, match="none"):
        await engine.update_workspace(WorkspaceUpdate("none"))


async def test_settings_outlive_a_restart(tmp_path: Path) -> None:
    """Those given at the start and those changed later, beside changes of documents."""
    async with opened(tmp_path) as engine:
        await engine.create_workspace(
            "docs", WorkspaceSettings(fusion=FusionSettings(lexical_weight=2.0))
        )
        await asyncio.gather(
            _fill(engine),
            engine.update_workspace(WorkspaceUpdate("docs", FusionChoices(rank_constant=7.0))),
        )
    async with opened(tmp_path) as engine:
        kept = await engine.describe_workspace("docs")
        result = await _ask(engine)

    assert kept.settings.fusion == FusionSettings(7.0, 2.0) == result.fusion
    assert kept.passage_count == 2


def _contributions(hit: PassageHit) -> list[float]:
    return [place.contribution for place in hit.places]


async def test_a_store_of_an_earlier_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """Its workspaces fuse with the defaults, and its texts are compared in composed form."""
    decomposed = "e\u0301te\u0301"
    async with opened(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await _fill(engine)
        await engine.upsert_document(upsert("b", ["quai"]))
    with closing(sqlite3.connect(tmp_path / "store.sqlite3")) as connection, connection:
        set_back(connection, "0002")
        metadata = orjson.dumps({decomposed: ["string", decomposed], "n": ["number", 1.0]})
        connection.execute(
            "UPDATE documents SET metadata = ?, category = ? WHERE external_id = 'b'",
            (metadata.decode(), decomposed),
        )

    engine = await asyncio.to_thread(EmbeddedEngine, EmbeddedSettings(tmp_path))
    try:
        result = await _ask(engine)
        stored = await engine.get_document("docs", "b", include_passages=False)
    finally:
        await asyncio.to_thread(engine.close)

    assert result.fusion == FusionSettings()
    assert _contributions(result.hits[0]) == [
        pytest.approx(1 / (60 + 2 * 3 / 2)),
        pytest.approx(1 / 61),
    ]
    assert stored.document.category == "été"
    assert stored.document.metadata == {"été": "été", "n": 1.0}
