"""What every engine owes its callers: workspaces."""

import pytest

from chassis.errors import AlreadyExists, NotFound
from retriever_svc.documents import UpsertOutcome
from retriever_svc.engine import RetrievalEngine
from retriever_svc.workspaces import (
    ChunkingProfile,
    DenseIndexKind,
    WorkspaceLanguage,
    WorkspaceSettings,
)
from tests.fakes.retrieval import (
    OTHER_SPACE,
    SPACE,
    found,
    passage_vectors,
    request,
    upsert,
    vector,
)


async def test_a_new_workspace_is_described_as_asked_for(engine: RetrievalEngine) -> None:
    """Settings come back; counts and versions start at nothing."""
    settings = WorkspaceSettings(
        WorkspaceLanguage.AUTO, ChunkingProfile.WORDS, "commerce", DenseIndexKind.FLAT
    )
    created = await engine.create_workspace("contracts", settings)

    assert created == await engine.describe_workspace("contracts")
    assert created.settings == settings
    assert (created.document_count, created.passage_count, created.spaces) == (0, 0, ())
    assert (created.preferred_space_id, created.spaces_version, created.applied_seq) == ("", 0, 0)


async def test_workspaces_are_listed_by_slug(engine: RetrievalEngine) -> None:
    """The order does not depend on when they were created."""
    for slug in ("zebra", "alpha"):
        await engine.create_workspace(slug, WorkspaceSettings())

    assert [w.slug for w in await engine.list_workspaces()] == ["alpha", "docs", "zebra"]


async def test_a_slug_is_taken_once(engine: RetrievalEngine) -> None:
    """The second creation is refused and changes nothing."""
    with pytest.raises(AlreadyExists):
        await engine.create_workspace("docs", WorkspaceSettings(language=WorkspaceLanguage.ENGLISH))

    described = await engine.describe_workspace("docs")
    assert described.settings.language is WorkspaceLanguage.FRENCH


async def test_an_unknown_workspace_is_not_found(engine: RetrievalEngine) -> None:
    """Every method says so."""
    calls = (
        engine.describe_workspace("none"),
        engine.delete_workspace("none"),
        engine.upsert_document(upsert("a", ["x"], workspace="none")),
        engine.delete_document("none", "a"),
        engine.get_document("none", "a", include_passages=False),
        engine.list_documents("none", page_size=10, after=None),
        engine.search_passages(request("x", workspace="none")),
    )
    for call in calls:
        with pytest.raises(NotFound, match="none"):
            await call


async def test_spaces_follow_the_vectors(engine: RetrievalEngine) -> None:
    """Spaces are listed while they hold a vector; each change of the list counts up the version."""
    await engine.upsert_document(upsert("a", ["eau"], vectors=[passage_vectors([[1, 0, 0, 0]])]))
    first = await engine.describe_workspace("docs")
    other = passage_vectors([[0, 1, 0, 0]], OTHER_SPACE)
    await engine.upsert_document(upsert("b", ["feu"], vectors=[other]))
    second = await engine.describe_workspace("docs")
    await engine.delete_document("docs", "b")
    third = await engine.describe_workspace("docs")

    assert [(space.space_id, space.dimension) for space in first.spaces] == [(SPACE, 4)]
    assert [space.space_id for space in second.spaces] == [SPACE, OTHER_SPACE]
    assert [(space.space_id, space.passage_count) for space in third.spaces] == [(SPACE, 1)]
    assert {first.preferred_space_id, third.preferred_space_id} == {SPACE}
    assert first.spaces_version < second.spaces_version < third.spaces_version


async def test_counts_and_seq_follow_the_changes(engine: RetrievalEngine) -> None:
    """Documents and passages are counted; seq grows with every change."""
    await engine.upsert_document(upsert("a", ["eau", "feu"]))
    receipt = await engine.upsert_document(upsert("b", ["air"]))
    filled = await engine.describe_workspace("docs")
    removal = await engine.delete_document("docs", "a")
    emptier = await engine.describe_workspace("docs")

    assert (filled.document_count, filled.passage_count) == (2, 3)
    assert (emptier.document_count, emptier.passage_count) == (1, 1)
    assert filled.applied_seq == receipt.seq < removal.seq == emptier.applied_seq


async def test_a_deleted_workspace_leaves_no_ghost(engine: RetrievalEngine) -> None:
    """Its slug can be used again, and nothing of before is found, counted or kept."""
    old = upsert("a", ["l'eau de source"], vectors=[passage_vectors([[1, 0, 0, 0]])])
    await engine.upsert_document(old)
    removal = await engine.delete_workspace("docs")
    with pytest.raises(NotFound):
        await engine.search_passages(request("eau"))
    await engine.create_workspace("docs", WorkspaceSettings())
    again = await engine.search_passages(request("eau", {SPACE: vector(1, 0, 0, 0)}))
    described = await engine.describe_workspace("docs")
    receipt = await engine.upsert_document(old)

    assert (removal.document_count, removal.passage_count) == (1, 1)
    assert found(again) == []
    assert (described.document_count, described.spaces, described.preferred_space_id) == (0, (), "")
    assert receipt.outcome is UpsertOutcome.CREATED


async def test_nothing_crosses_workspaces(engine: RetrievalEngine) -> None:
    """The same document lives in two workspaces independently."""
    await engine.create_workspace("other", WorkspaceSettings())
    for workspace, text in (("docs", "eau plate"), ("other", "eau gazeuse")):
        vectors = [passage_vectors([[1, 0, 0, 0]])]
        await engine.upsert_document(upsert("a", [text], workspace=workspace, vectors=vectors))
    query = {SPACE: vector(1, 0, 0, 0)}
    ours = await engine.search_passages(request("eau", query))
    await engine.delete_document("docs", "a")
    theirs = await engine.search_passages(request("eau", query, workspace="other"))

    assert found(ours) == ["eau plate"]
    assert found(theirs) == ["eau gazeuse"]
