"""A workspace with everything that can be exported, and its way out of one engine into another."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from retriever_svc.documents import (
    WINDOWS_AWAITED,
    DocumentUpsert,
    FloatMatrix,
    ParentRange,
    PassageVectors,
)
from retriever_svc.engine import RetrievalEngine
from retriever_svc.fusion_settings import FusionSettings
from retriever_svc.transfers.imports import Imports
from retriever_svc.transfers.transfer_limits import TransferLimits
from retriever_svc.wire.transfers.exported_records import exported_records
from retriever_svc.wire.transfers.imported_records import ImportedRecords
from retriever_svc.wire.uploads import UploadLimits
from retriever_svc.workspaces import ChunkingProfile, DenseIndexKind, WorkspaceSettings
from tests.fakes.retrieval import OTHER_SPACE, SPACE, request, upsert

SETTINGS = WorkspaceSettings(
    chunking_profile=ChunkingProfile.SENTENCES,
    preset="commerce",
    dense_index_kind=DenseIndexKind.FLAT,
    fusion=FusionSettings(rank_constant=30.0, space_weights={SPACE: 0.5}),
    child_token_count=64,
)
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
WORDS = ["eau", "feu", "terre", "air", "navire", "quai"]


def rows(count: int, seed: int) -> FloatMatrix:
    """Returns vectors of any norm, [count, 4]."""
    generator = np.random.default_rng(seed)
    return np.asarray(generator.standard_normal((count, 4)) * 7, np.float32)


def texts(count: int, seed: int) -> list[str]:
    """Returns texts of three words."""
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(WORDS, 3)) + "." for _ in range(count)]


def rich_document(seed: int) -> DocumentUpsert:
    """Returns a document with a value in every field, blocks, windows and vectors of slices."""
    given = PassageVectors(
        SPACE,
        np.array([0, 1, 3]),
        rows(3, seed),
        np.array([2, 0, WINDOWS_AWAITED]),
        rows(2, seed + 1),
        canary=rows(1, 5)[0],
        sliced_rows=frozenset({1}),
    )
    document = upsert(
        f"rich-{seed}",
        texts(4, seed),
        vectors=[given],
        title="Manuel",
        keywords=("eau", "feu"),
        source_uri="https://example.org/a?b=c",
        category="manuels",
        language="en",
        metadata={
            "week": 12.5,
            "open": True,
            "who": "Zoë",
            "when": datetime(2026, 1, 2, tzinfo=UTC),
        },
        version="2",
        valid_from=datetime(2025, 1, 1, 0, 0, 0, 5, tzinfo=UTC),
        valid_until=datetime(2030, 1, 1, tzinfo=UTC),
        superseded=True,
        chunking_profile="sentences",
    )
    passages = [
        replace(
            one,
            heading_path=("Haut", "Bas"),
            location="page 3",
            token_estimate=one.chunk_index + 7,
            cuts_token=one.chunk_index == 1,
            parent=ParentRange(0, 2, "\n\n") if one.chunk_index < 2 else None,
        )
        for one in document.passages
    ]
    return replace(document, passages=tuple(passages))


async def fill(engine: RetrievalEngine, workspace: str = "rich", *, changed: bool = True) -> None:
    """Creates a workspace whose preferred space lacks passages.

    It has been `changed`: some of its documents were deleted, and some replaced.
    """
    await engine.create_workspace(workspace, SETTINGS)
    for seed in range(4):
        document = replace(rich_document(seed), workspace=workspace)
        await engine.upsert_document(document)
    for number in range(6):
        given = PassageVectors(OTHER_SPACE, np.arange(3), rows(3, 40 + number))
        plain = upsert(
            f"plain-{5 - number}", texts(3, number), workspace=workspace, vectors=[given]
        )
        await engine.upsert_document(plain)
    await engine.upsert_document(upsert("words only", texts(2, 9), workspace=workspace))
    await engine.upsert_document(upsert("empty", [], workspace=workspace))
    if changed:
        await engine.delete_document(workspace, "rich-2")
        newer = upsert("plain-3", texts(2, 20), workspace=workspace, language="en")
        await engine.upsert_document(newer)
    await engine.switch_space(workspace, OTHER_SPACE, require_complete=False)


async def exported(engine: RetrievalEngine, workspace: str = "rich") -> list[bytes]:
    """Returns the records of a workspace."""
    async with engine.copy_workspace(workspace) as copy:
        return [record async for record in exported_records(copy)]


async def imported(
    engine: RetrievalEngine,
    records: Iterable[bytes],
    workspace: str = "copy",
    imports: Imports | None = None,
    uploads: UploadLimits | None = None,
) -> None:
    """Brings records into a new workspace."""
    reading = ImportedRecords(_stream(records), uploads or UploadLimits())
    head = await reading.head()
    imports = imports or Imports(engine, TransferLimits())
    async with imports.building(workspace, head) as building:
        async for document, size in reading.documents(building.aside):
            await building.add(document, size)


async def _stream(records: Iterable[bytes]) -> AsyncIterator[bytes]:
    for record in records:
        yield record


async def searched(engine: RetrievalEngine, workspace: str) -> list[Any]:
    """Returns what many searches find, without the ids, which are those of the engine."""
    found = []
    for number in range(12):
        words = " ".join(np.random.default_rng(number).choice(WORDS, 2))
        vectors = {space: rows(1, 60 + number)[0] for space in (SPACE, OTHER_SPACE)[: number % 3]}
        result = await engine.search_passages(request(words, vectors, workspace=workspace))
        found.append(
            [
                (
                    hit.document,
                    hit.passage,
                    hit.fused_score,
                    hit.bm25_score,
                    [
                        (score.space_id, score.cosine, score.best_window_cosine)
                        for score in hit.space_scores
                    ],
                    [(place.list_index, place.rank) for place in hit.places],
                )
                for hit in result.hits
            ]
        )
    return found
