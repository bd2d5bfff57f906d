"""No result ever compares vectors of two spaces, whatever happens at once."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from tests.fakes.embedder import fake_vectors
from tests.fakes.space_storm import TOLERANCE, SpaceStorm, cosine
from tests.fakes.spaces_bench import FIRST, SECOND, open_bench


def test_a_mixed_comparison_would_be_seen() -> None:
    """Across the two spaces nearly every cosine is wrong by more than the tolerance."""
    texts = [f"quai {number} grue" for number in range(50)]
    right = [cosine("quai grue", text) for text in texts]
    query = fake_vectors(FIRST, "quai grue")[0]
    mixed = fake_vectors(SECOND, *(f"Le port\n{text}" for text in texts)) @ query

    assert float(np.mean(np.abs(mixed - right) > TOLERANCE)) > 0.95


async def test_switches_under_load_mix_nothing(tmp_path: Path, soak: bool) -> None:
    """Two spaces of equal width, rotations of each other, under concurrent searches, uploads,
    outages, movers and switches: zero mixed results; in the end every passage is right in the
    preferred space."""
    switches = 200 if soak else 20
    async with open_bench(tmp_path, FIRST, SECOND) as bench:
        storm = SpaceStorm(bench, Random(29))
        await storm.blow(switches=switches, comparisons=20 * switches)
        await storm.compare_all()
        workspace = await bench.workspace()

    assert storm.mixed == []
    assert storm.searched_spaces == {FIRST, SECOND}
    assert workspace.awaiting_passage_count == 0
