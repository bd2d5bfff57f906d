"""A workspace that was exported and imported is the same one, in whichever engine."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.errors import AlreadyExists, NotFound
from retriever_svc.documents import PassageVectors
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.engine import RetrievalEngine
from retriever_svc.unit_vectors import unit_rows
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.fakes.retrieval import SPACE, upsert
from tests.fakes.transfers import SETTINGS, exported, fill, imported, rows, searched, texts
from tests.unit.retriever_svc.conftest import embedded


async def test_an_import_is_what_was_exported(engine: RetrievalEngine) -> None:
    """Exported again it gives equal bytes: settings, spaces, canaries, documents, blocks, vectors
    and windows; its counts and preferred space are those of the original."""
    await fill(engine)
    records = await exported(engine)
    await imported(engine, records)
    original, copy = [await engine.describe_workspace(slug) for slug in ("rich", "copy")]

    assert await exported(engine, "copy") == records
    assert copy.settings == SETTINGS
    assert copy.preferred_space_id == original.preferred_space_id
    assert (copy.document_count, copy.passage_count) == (11, original.passage_count)
    assert sorted(
        (one.space_id, one.passage_count, one.stray_count, one.canary) for one in copy.spaces
    ) == sorted(
        (one.space_id, one.passage_count, one.stray_count, one.canary) for one in original.spaces
    )


async def test_an_import_finds_what_the_original_finds(engine: RetrievalEngine) -> None:
    """Equal hits with equal ranks and scores, by words, by vectors and by both."""
    await fill(engine, changed=False)
    await imported(engine, await exported(engine))
    original, copy = [await searched(engine, slug) for slug in ("rich", "copy")]

    assert [[hit[:2] for hit in hits] for hits in copy] == [
        [hit[:2] for hit in hits] for hits in original
    ]
    assert copy == original
    assert min(map(len, copy)) > 3


async def test_blocks_come_along(engine: RetrievalEngine) -> None:
    """The parents of passages are those of the original."""
    await fill(engine)
    await imported(engine, await exported(engine))
    stored = await engine.get_document("copy", "rich-1", include_passages=True)
    parents = await engine.read_parents("copy", [one.passage_id for one in stored.passages])

    assert [(one.first_chunk_index, one.passage_count) for one in parents] == [(0, 2), (0, 2)]
    assert parents[0].text == "\n\n".join(one.passage.text for one in stored.passages[:2])


async def test_an_export_is_one_state(engine: RetrievalEngine) -> None:
    """What changes while it is read is not in it."""
    await fill(engine)
    before = await exported(engine)
    async with engine.copy_workspace("rich") as copy:
        documents = [await anext(copy.documents)]
        await engine.delete_document("rich", "plain-1")
        await engine.upsert_document(upsert("later", texts(2, 3), workspace="rich"))
        documents += [one async for one in copy.documents]

    assert [one.document.external_id for one in documents] == [
        "rich-0", "rich-1", "rich-3", "plain-5", "plain-4", "plain-3", "plain-2", "plain-1",
        "plain-0", "words only", "empty",
    ]  # fmt: skip
    assert await exported(engine) != before


async def test_a_workspace_is_the_same_in_every_engine(
    engine: RetrievalEngine, tmp_path: Path
) -> None:
    """From any engine into a plain one, from there into the embedded one: the bytes stay."""
    await fill(engine)
    records = await exported(engine)
    plain = PlainEngine()
    await imported(plain, records)
    async with embedded(tmp_path / "other", DenseSettings()) as other:
        await imported(other, await exported(plain, "copy"))

        assert await exported(other, "copy") == records


async def test_a_renamed_workspace_is_found_under_its_new_name_alone(
    engine: RetrievalEngine,
) -> None:
    """Its documents and searches go with it, and the old name is free."""
    await fill(engine)
    before = await searched(engine, "rich")
    renamed = await engine.rename_workspace("rich", "other")
    listed = [one.slug for one in await engine.list_workspaces()]
    with pytest.raises(NotFound):
        await engine.describe_workspace("rich")
    await engine.create_workspace("rich", WorkspaceSettings())
    await engine.upsert_document(upsert("new", ["navire"], workspace="other"))
    await engine.delete_document("other", "new")

    assert renamed.slug == "other"
    assert listed == ["docs", "other"]
    assert [one.slug for one in await engine.list_workspaces()] == ["docs", "other", "rich"]
    assert [[hit[:2] for hit in hits] for hits in await searched(engine, "other")] == [
        [hit[:2] for hit in hits] for hits in before
    ]
    assert (await engine.describe_workspace("rich")).document_count == 0


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_a_vector_that_was_scaled_once_keeps_its_bits(values: list[float]) -> None:
    """Scaling it again, as an import does, changes nothing."""
    row = np.array([[*values, 1.0]], np.float32)
    once = unit_rows(row, ["it"], SPACE)

    assert unit_rows(once, ["it"], SPACE).tobytes() == once.tobytes()


async def test_a_name_that_is_taken_is_not_given_again(engine: RetrievalEngine) -> None:
    """Both workspaces stay as they are, and a missing one is told."""
    await engine.create_workspace("other", WorkspaceSettings())
    with pytest.raises(AlreadyExists):
        await engine.rename_workspace("docs", "other")
    with pytest.raises(NotFound):
        await engine.rename_workspace("nowhere", "new")

    assert [one.slug for one in await engine.list_workspaces()] == ["docs", "other"]


async def test_large_documents_are_cut_into_many_records() -> None:
    """No record is much larger than meant; together they are the document."""
    plain = PlainEngine()
    await plain.create_workspace("docs", WorkspaceSettings())
    count = 300
    wide = np.random.default_rng(3).standard_normal((count, 1024)).astype(np.float32)
    given = PassageVectors("test/wide@1/1024/l2/none", np.arange(count), wide)
    long = [f"{number} " + "mot " * 1_000 for number in range(count)]
    document = replace(upsert("long", long, content_hash="short"), vectors=(given,))
    await plain.upsert_document(document)
    records = await exported(plain, "docs")
    await imported(plain, records)

    assert len(records) > 6
    assert max(map(len, records)) < 600_000
    assert await exported(plain, "copy") == records


def test_rows_are_of_any_norm() -> None:
    """The vectors that these tests bring do need scaling."""
    assert not np.allclose(np.linalg.norm(rows(3, 1), axis=1), 1)
