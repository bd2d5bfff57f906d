"""What an engine owes its callers if it says that it is durable."""

from pathlib import Path

from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.retrieval import SPACE, found, passage_vectors, request, upsert, vector
from tests.unit.retriever_svc.conftest import OfferedEngine


async def test_what_was_acknowledged_is_there_when_it_is_opened_again(
    reopened: OfferedEngine, tmp_path: Path
) -> None:
    """Documents, deletions, spaces and their versions: found as before, and gone as before."""
    search = request("eau feu", {SPACE: vector(1, 0.5, 0, 0)}, mode=SearchMode.HYBRID)
    async with reopened.open(tmp_path) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.create_workspace("gone", WorkspaceSettings())
        rows = [[1, 0, 0, 0], [0, 1, 0, 0]]
        await engine.upsert_document(
            upsert("a", ["eau", "feu"], vectors=[passage_vectors(rows)], title="Éléments")
        )
        await engine.upsert_document(upsert("b", ["eau"], vectors=[passage_vectors(rows[:1])]))
        await engine.delete_document("docs", "b")
        await engine.delete_workspace("gone")
        before = await engine.search_passages(search)
        described = await engine.describe_workspace("docs")
        document = await engine.get_document("docs", "a", include_passages=True)
    async with reopened.open(tmp_path) as engine:
        after = await engine.search_passages(search)

        assert found(after) == found(before) == ["eau", "feu"]
        assert after.applied_seq == before.applied_seq
        assert [hit.fused_score for hit in after.hits] == [hit.fused_score for hit in before.hits]
        again = await engine.describe_workspace("docs")
        assert (again.applied_seq, again.spaces_version) == (
            described.applied_seq,
            described.spaces_version,
        )
        assert await engine.get_document("docs", "a", include_passages=True) == document
        assert [one.slug for one in await engine.list_workspaces()] == ["docs"]
