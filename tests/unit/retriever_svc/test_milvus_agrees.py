"""The engine over PostgreSQL and Milvus, given the same random changes, says what others say.

Milvus Lite computes BM25 over the passages that a filter leaves, Milvus over all: where a filter
decides, only the sets of hits are compared.
"""

import random
from pathlib import Path
from typing import Any

from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.plain_engine.plain_engine import PlainEngine
from tests.unit.retriever_svc.conftest import milvus
from tests.unit.retriever_svc.test_engines_agree import Change, seen

OPENINGS = 2
STEPS = 10
SEEDS = 2
SOAK_SEEDS = 30


def comparable(state: dict[str, Any]) -> dict[str, Any]:
    """Leaves out BM25 scores."""
    for search in state["searches"]:
        del search["bm25"]
    return state


async def compare(folder: Path, seed: int) -> None:
    """Runs one sequence of changes on both engines; the one under test is opened anew meanwhile."""
    generator = random.Random(seed)
    plain = PlainEngine()
    await plain.create_workspace("docs", WorkspaceSettings())
    async with milvus(folder) as other:
        await other.create_workspace("docs", WorkspaceSettings())
    for opening in range(OPENINGS):
        async with milvus(folder) as other:
            for step in range(STEPS):
                change, hint = Change(generator), f"seed {seed}, opening {opening}, step {step}"
                assert await change.apply(other) == await change.apply(plain), hint
                if step % 3 == 2:
                    state = generator.getrandbits(32)
                    ours = comparable(await seen(other, random.Random(state)))
                    assert ours == comparable(await seen(plain, random.Random(state))), hint


async def test_random_changes_mean_the_same_as_elsewhere(tmp_path: Path, soak: bool) -> None:
    """Receipts and refusals, documents, spaces, and searches of every kind after each few steps."""
    for seed in range(SOAK_SEEDS if soak else SEEDS):
        await compare(tmp_path / str(seed), seed)
