"""A place to ask: every door over the small base, with a vendor that reacts as told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.fakes.answers.doors import AnswerDoors, Heard, answer_doors
from tests.fakes.answers.tile_trade import RETURNS, RETURNS_MARK, SCALE_MARK, fill
from tests.fakes.answers.vendor import answer_models
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.vendor import FakeVendor, Reaction

GOOD = (
    f"Le délai de retour des carreaux est de 30 jours après la livraison {RETURNS_MARK}. "
    f"Les frais de retour sont de 45 euros par palette {SCALE_MARK}."
)


@asynccontextmanager
async def desk(
    mesh: MeshOfFakes, *reactions: Reaction, **options: Any
) -> AsyncIterator[tuple[AnswerDoors, FakeVendor]]:
    """Doors over the base, with a vendor that reacts like this."""
    fill(mesh)
    async with answer_models(*reactions, **options) as (vendor, models):
        mesh.models = models
        async with answer_doors(mesh) as doors:
            yield doors, vendor


def assert_extracted(heard: Heard, reason: str) -> None:
    """The answer quotes the sources word for word, and the receipt says why."""
    assert heard.origin == "EXTRACTED"
    assert heard.stage == ("DEGRADED", reason)
    assert (heard.end, heard.refusal) == ("COMPLETE", "")
    assert RETURNS[1].split(". ")[0] in heard.text
    assert heard.cited
    assert "returns.md" in {document for _, document in heard.cited}
