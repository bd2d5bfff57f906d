"""Uploads that break off at any moment."""

import asyncio
import random

import pytest

from justesse.client import AsyncJustesse, JustesseError
from tests.mesh.caller import Caller
from tests.mesh.processes import Mesh

pytestmark = [pytest.mark.mesh, pytest.mark.faults]

WORKSPACE = "hate"
LAST_WORDS = "Dernier mot : omega."
NAMES = [f"note-{number}.md" for number in range(6)]


async def test_an_upload_that_breaks_off_is_never_stored_in_part(
    mesh: Mesh, caller: Caller, soak: bool
) -> None:
    """Whatever the moment of its end, an upload fails with an error of the client's own family,
    and every document that is stored is stored to its last word."""
    caller.create_workspace(WORKSPACE)
    chance = random.Random(36066)

    async def hurried_upload(client: AsyncJustesse) -> str:
        text = "# Note\n\n" + "Une phrase de plus. " * chance.randint(1, 40_000) + LAST_WORDS
        try:
            await client.ingest(
                WORKSPACE,
                text.encode(),
                file_name=chance.choice(NAMES),
                timeout=chance.uniform(0.001, 0.06),
            )
        except JustesseError as error:
            return error.status
        return "OK"

    async with AsyncJustesse(mesh.gateway_address) as client:
        statuses = []
        for _ in range(100 if soak else 12):
            statuses += await asyncio.gather(*(hurried_upload(client) for _ in range(8)))
        stored = [
            await client.get_document(WORKSPACE, document.external_id)
            async for document in client.iterate_documents(WORKSPACE)
        ]

    assert "DEADLINE_EXCEEDED" in statuses
    assert set(statuses) <= {"OK", "DEADLINE_EXCEEDED", "CANCELLED"}
    for document in stored:
        assert document.passages[-1].text.endswith(LAST_WORDS)
