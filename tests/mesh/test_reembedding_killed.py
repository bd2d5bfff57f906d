"""Embedding a workspace again survives the end of any process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from justesse.client import (
    Justesse,
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    UnavailableError,
)
from tests.mesh.processes import Mesh, running_mesh

pytestmark = [pytest.mark.mesh, pytest.mark.faults]

# The retriever dies with the ingestion role, and its leases with it: nobody waits for them.
VICTIMS = [("gateway",), ("ingestion", "retriever"), ("embedder",)]


def events(mesh: Mesh, victims: list[tuple[str, ...]]) -> Iterator[ReembeddingEvent]:
    """Yields the events of one call; kills the next victims, starting them anew, at progress."""
    with Justesse(mesh.gateway_address) as justesse:
        try:
            for event in justesse.reembed("essai", "embedded", timeout=120):
                yield event
                if isinstance(event, ReembeddingProgress) and victims:
                    dead = victims.pop(0)
                    for name in dead:
                        mesh.processes[name].kill()
                    for name in dead:
                        mesh.restart(name)
        except UnavailableError:
            return


def test_any_process_may_be_killed_meanwhile(tmp_path: Path) -> None:
    """The same call again goes on where the last one ended, until the workspace has switched."""
    victims = list(VICTIMS)
    plans: list[ReembeddingPlan] = []
    outcome: ReembeddingOutcome | None = None
    with running_mesh(
        tmp_path,
        "deterministic,embedded",
        JUSTESSE_INGESTION_EMBED_BATCH_TEXTS="4",
        JUSTESSE_INGESTION_WINDOWS="off",
    ) as mesh:
        with Justesse(mesh.gateway_address) as justesse:
            justesse.create_workspace("essai")
            for number in range(24):
                text = f"# Quai {number}\n\nLe quai numéro {number} reçoit des navires."
                justesse.ingest("essai", text.encode(), file_name=f"quai-{number}.md")
        for _ in range(10):
            for event in events(mesh, victims):
                if isinstance(event, ReembeddingPlan):
                    plans.append(event)
                elif isinstance(event, ReembeddingOutcome):
                    outcome = event
            if outcome is not None:
                break
        with Justesse(mesh.gateway_address) as justesse:
            workspace = justesse.describe_workspace("essai")
            found = justesse.search("essai", "Quels navires au quai numéro 7 ?", timeout=30)

    assert victims == []
    assert outcome is not None
    assert outcome.switched
    left = [plan.awaiting_passage_count for plan in plans]
    assert len(left) >= 3
    assert left == sorted(set(left), reverse=True)
    assert workspace.preferred_space_id == outcome.preferred_space_id != plans[0].preferred_space_id
    assert {space.passage_count for space in workspace.spaces} == {workspace.passage_count}
    assert found.hits[0].source.external_id == "quai-7.md"
