"""Two engines behind one seam, given the same random changes, say the same of everything."""

import random
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chassis.errors import ServiceError
from retriever_svc.documents import PassageVectors
from retriever_svc.embedded.dense.dense_settings import DenseSettings
from retriever_svc.engine import RetrievalEngine
from retriever_svc.explanations import ExplanationRequest
from retriever_svc.filters import Equals, Negation
from retriever_svc.searches import SearchMode
from retriever_svc.spaces import PassageKey, VectorsPutRequest
from retriever_svc.thresholds import Threshold
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.fakes.retrieval import OTHER_SPACE, SPACE, request, unit_rows, upsert
from tests.unit.retriever_svc.conftest import embedded

pytestmark = pytest.mark.timeout(3_600)

WORDS = ["eau", "feu", "terre", "air", "navire", "quai"]
ROWS = unit_rows(64, 4, seed=8)
SPACES = [SPACE, OTHER_SPACE]
DENSE = [
    DenseSettings(flat_row_limit=10_000),
    DenseSettings(flat_row_limit=0, growing_row_limit=1),
]
OPENINGS = 4
STEPS = 16
SEEDS = 3
SOAK_SEEDS = 100


class Change:
    """One random change, the same for every engine."""

    def __init__(self, generator: random.Random) -> None:
        self._generator = generator
        self._kind = generator.choices(
            ["upsert", "delete", "put", "switch", "drop"], [8, 2, 3, 1, 1]
        )[0]
        self._name = f"doc-{generator.randrange(6)}"
        self._space = generator.choice(SPACES)
        self._left = tuple(generator.sample(SPACES, generator.randrange(2)))
        self._complete = generator.random() < 0.5
        self._leave_waiting = generator.random() < 0.5
        texts = [" ".join(generator.choices(WORDS, k=3)) for _ in range(generator.randrange(4))]
        self._upsert = upsert(
            self._name,
            texts,
            title=generator.choice(WORDS),
            category=generator.choice(["notes", "orders"]),
            vectors=[self._vectors(one, len(texts)) for one in SPACES if generator.random() < 0.6],
        )

    async def apply(self, engine: RetrievalEngine) -> Any:
        """Makes the change; returns the receipt, or what was refused."""
        if self._kind == "put":
            return await self._put(engine)
        if self._kind == "upsert":
            return await told(engine.upsert_document(self._upsert))
        if self._kind == "delete":
            return await told(engine.delete_document("docs", self._name))
        if self._kind == "drop":
            drop = engine.drop_space("docs", self._space, leave_waiting=self._leave_waiting)
            return await told(drop)
        switch = engine.switch_space("docs", self._space, require_complete=self._complete)
        return await told(switch)

    async def _put(self, engine: RetrievalEngine) -> Any:
        page = await engine.list_passages_awaiting("docs", self._space, page_size=3, after=None)
        keys = tuple(
            PassageKey(one.passage_id, one.passage.embedded_text_hash) for one in page.passages
        )
        if not keys:
            return None
        rows = np.stack([ROWS[key.passage_id % len(ROWS)] for key in keys])
        given = PassageVectors(self._space, np.arange(len(keys)), rows)
        return await told(
            engine.put_vectors(VectorsPutRequest("docs", keys, given, left_space_ids=self._left))
        )

    def _vectors(self, space_id: str, passage_count: int) -> PassageVectors:
        positions = [one for one in range(passage_count) if self._generator.random() < 0.8]
        rows = [self._generator.randrange(len(ROWS)) for _ in positions]
        return PassageVectors(space_id, np.array(positions, np.int64), ROWS[rows].reshape(-1, 4))


async def told(call: Awaitable[Any]) -> Any:
    """Returns the answer of a call, without what only one engine promises, or the refusal."""
    try:
        answer = await call
    except ServiceError as refused:
        return type(refused), refused.reason
    fields = {name: getattr(answer, name) for name in type(answer).__dataclass_fields__}
    fields.pop("purge_within_s", None)
    return fields


async def seen(engine: RetrievalEngine, generator: random.Random) -> dict[str, Any]:
    """Returns what an engine says of its workspace, and of random searches of all kinds."""
    described = await engine.describe_workspace("docs")
    page = await engine.list_documents("docs", page_size=50, after=None)
    stored = [
        await engine.get_document("docs", one.document.external_id, include_passages=True)
        for one in page.documents
    ]
    return {
        "counts": (described.document_count, described.passage_count, described.applied_seq),
        "spaces": (described.spaces_version, described.preferred_space_id),
        "spaces held": [
            (one.space_id, one.passage_count, one.stray_count, one.resting)
            for one in described.spaces
        ],
        "documents": [
            (one.document, one.awaiting_passage_count, [p.passage for p in one.passages])
            for one in stored
        ],
        "vectors": [[p.space_ids for p in one.passages] for one in stored],
        "searches": [await searched(engine, generator) for _ in range(3)],
    }


async def searched(engine: RetrievalEngine, generator: random.Random) -> Any:
    """Returns what does not depend on how finely BM25 measures lengths: lists are long enough."""
    mode = generator.choice(list(SearchMode))
    options: dict[str, Any] = {"candidate_count": 50}
    if generator.random() < 0.5:
        condition = Equals("category", "notes")
        options["filter"] = generator.choice([condition, Negation(condition)])
    if generator.random() < 0.3:
        options["thresholds"] = (Threshold(SPACE, 0.2, 0.5), Threshold(min_term_share=0.4))
    vectors = {one: ROWS[generator.randrange(64)] for one in SPACES if generator.random() < 0.7}
    search = request(" ".join(generator.sample(WORDS, 2)), vectors, mode=mode, **options)
    result = await engine.search_passages(search)
    dense = [index for index, one in enumerate(result.lists) if one.space_id]
    hits = sorted(result.hits, key=lambda hit: (hit.document.external_id, hit.passage.chunk_index))
    expected = hits[0].document.external_id if hits else None
    outcomes = None
    if expected is not None:
        answer = await engine.explain_passages(ExplanationRequest(search, external_id=expected))
        outcomes = sorted((one.chunk_index, one.outcome, one.term_share) for one in answer.passages)
    return {
        "lists": [(one.space_id, one.hit_count, one.weight) for one in result.lists],
        "counts": (result.total_count, result.window_cut, result.drop_counts),
        "hits": [(hit.document.external_id, hit.passage, hit.term_share) for hit in hits],
        "cosines": [
            [(score.space_id, pytest.approx(score.cosine, abs=1e-5)) for score in hit.space_scores]
            for hit in hits
        ],
        "places": [
            [(place.list_index, place.rank) for place in hit.places if place.list_index in dense]
            for hit in hits
        ],
        "bm25": [pytest.approx(hit.bm25_score, rel=0.02) for hit in hits],
        "outcomes": outcomes,
    }


async def compare(folder: Path, seed: int) -> None:
    """Runs one sequence of changes on both engines; the embedded one is opened anew meanwhile."""
    generator = random.Random(seed)
    plain = PlainEngine()
    await plain.create_workspace("docs", WorkspaceSettings())
    async with embedded(folder, DENSE[0]) as other:
        await other.create_workspace("docs", WorkspaceSettings())
    for opening in range(OPENINGS):
        async with embedded(folder, DENSE[opening % len(DENSE)]) as other:
            for step in range(STEPS):
                change, hint = Change(generator), f"seed {seed}, opening {opening}, step {step}"
                assert await change.apply(other) == await change.apply(plain), hint
                if step % 5 == 0:
                    state = generator.getrandbits(32)
                    ours = await seen(other, random.Random(state))
                    assert ours == await seen(plain, random.Random(state)), hint


async def test_random_changes_mean_the_same_to_both(tmp_path: Path, soak: bool) -> None:
    """Receipts and refusals, documents, spaces, and searches of every kind after each few steps."""
    for seed in range(SOAK_SEEDS if soak else SEEDS):
        await compare(tmp_path / str(seed), seed)
