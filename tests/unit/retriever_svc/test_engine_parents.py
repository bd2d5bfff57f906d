"""What every engine owes those who search parts of blocks: the blocks, on demand."""

from dataclasses import replace

import pytest

from chassis.errors import NotFound
from retriever_svc.documents import DocumentUpsert, ParentRange
from retriever_svc.engine import RetrievalEngine
from retriever_svc.workspaces import ChunkingProfile, WorkspaceUpdate
from tests.fakes.retrieval import request, upsert

GAPS = ("\n\n", " ", "\n\n", "\n\n")


def in_blocks(document: DocumentUpsert) -> DocumentUpsert:
    """The document with its first two passages as one block, the others alone."""
    passages = [
        replace(one, parent=ParentRange(0, 2, gap)) if one.chunk_index < 2 else one
        for one, gap in zip(document.passages, GAPS, strict=False)
    ]
    return replace(document, passages=tuple(passages))


async def ids_of(engine: RetrievalEngine, external_id: str) -> list[int]:
    """The internal ids of a document's passages, in order."""
    stored = await engine.get_document("docs", external_id, include_passages=True)
    return [one.passage_id for one in stored.passages]


async def test_parts_lead_to_their_block(engine: RetrievalEngine) -> None:
    """Found by its own words, a part brings the text of all; one that stands alone brings none."""
    await engine.upsert_document(in_blocks(upsert("a", ["eau douce", "et salée", "feu"])))
    first, second, alone = await ids_of(engine, "a")
    found = await engine.search_passages(request("salée"))
    parents = await engine.read_parents("docs", [second, alone, first, 10**9])

    assert [hit.passage.text for hit in found.hits] == ["et salée"]
    assert [(one.passage_id, one.text) for one in parents] == [
        (second, "eau douce et salée"),
        (first, "eau douce et salée"),
    ]
    assert {(one.first_chunk_index, one.passage_count) for one in parents} == {(0, 2)}


async def test_blocks_are_those_of_the_document_as_it_is(engine: RetrievalEngine) -> None:
    """A replaced document has other blocks, also where a passage lives on."""
    await engine.upsert_document(in_blocks(upsert("a", ["eau", "feu", "air"])))
    await engine.upsert_document(in_blocks(upsert("a", ["terre", "eau", "air"])))
    ids = await ids_of(engine, "a")
    await engine.upsert_document(upsert("b", ["eau", "feu"]))

    assert [one.text for one in await engine.read_parents("docs", ids)] == ["terre eau"] * 2
    assert await engine.read_parents("docs", await ids_of(engine, "b")) == []
    await engine.delete_document("docs", "a")
    assert await engine.read_parents("docs", ids) == []


async def test_parts_are_set_and_taken_away_later(engine: RetrievalEngine) -> None:
    """What an update does not name stays as it is; 0 takes parts away, and all of it is kept."""
    set_to = await engine.update_workspace(WorkspaceUpdate("docs", child_token_count=120))
    kept = await engine.update_workspace(
        WorkspaceUpdate("docs", chunking_profile=ChunkingProfile.WORDS)
    )
    none = await engine.update_workspace(WorkspaceUpdate("docs", child_token_count=0))
    described = await engine.describe_workspace("docs")

    assert [one.settings.child_token_count for one in (set_to, kept, none)] == [120, 120, 0]
    assert described.settings == none.settings
    assert described.settings.chunking_profile is ChunkingProfile.WORDS


async def test_blocks_stay_in_their_workspace(engine: RetrievalEngine) -> None:
    """Ids of another workspace lead nowhere."""
    await engine.upsert_document(in_blocks(upsert("a", ["eau", "feu"])))
    ids = await ids_of(engine, "a")

    with pytest.raises(NotFound):
        await engine.read_parents("none", ids)
