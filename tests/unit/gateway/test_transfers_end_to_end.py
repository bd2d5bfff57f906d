"""Archives through the gateway's client from a real retriever that asks for claims."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.errors import InvalidArgument, NotFound
from chassis.metrics import Metrics
from chassis.server import ServerSettings, running_server
from gateway.application import Services, assembled
from gateway.clients.retriever import RetrieverClient, retriever_over
from gateway.documents import Document, Passage, VectorBlock
from gateway.mesh import Mesh
from gateway.servicer.served import served_services
from gateway.switches.switching import Switching
from gateway.workspaces import ImportedCounts, WorkspaceSettings
from justesse.client import AsyncJustesse, InvalidRequestError
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.gateway_services.glossary import empty_board
from tests.fakes.gateway_services.jobs import FakeJobs
from tests.fakes.gateway_services.keys import open_access
from tests.fakes.gateway_services.models import FakeEmbedder, FakeReranker, FakeRewriter
from tests.fakes.gateway_services.roles import FakeIngestion, FakeReembedding
from tests.fakes.gateway_services.switch_database import SwitchDatabase
from tests.fakes.gateway_services.switch_rules import FakeRuleStore

SPACE = "fake/model@1/4/l2/none"


@pytest.fixture
async def retriever(tmp_path: Path) -> AsyncIterator[RetrieverClient]:
    """A retriever with the workspace `docs`, called by somebody who claims to administer all."""
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef0123456789abcdef\n")
    settings = RetrieverSettings(port=0, data_folder=tmp_path / "data", claim_secret_file=secret)
    async with (
        running_retriever(settings) as server,
        open_channel(server.address) as channel,
    ):
        retriever = retriever_over(channel, secret, lambda _: "admin")
        await retriever.create_workspace("docs", WorkspaceSettings())
        for number in range(5):
            rows = np.array([[1, 2, 3, number], [3, 2, 1, number]], np.float32)
            await retriever.upsert_document(
                "docs",
                Document(f"d{number}", content_hash=f"{number}"),
                [Passage(0, "eau", embedded_text_hash="a"), Passage(1, "feu")],
                [VectorBlock(SPACE, rows)],
            )
        yield retriever


async def sent(records: list[bytes], error: Exception | None = None) -> AsyncIterator[bytes]:
    """Yields records, and fails in the end if so asked."""
    for record in records:
        yield record
    if error is not None:
        raise error


async def test_a_workspace_goes_out_and_in(retriever: RetrieverClient) -> None:
    """With a claim for each call; the copy is the original."""
    records = [record async for record in retriever.export_workspace("docs")]
    came = await retriever.import_workspace("copy", sent(records))

    assert came == ImportedCounts(5, 10, 10)
    assert [record async for record in retriever.export_workspace("copy")] == records
    assert [one.slug for one in await retriever.list_workspaces()] == ["copy", "docs"]


async def test_an_archive_that_fails_at_its_very_end_leaves_nothing(
    retriever: RetrieverClient,
) -> None:
    """All records came, and the archive's own end was wrong: its error is raised as it is."""
    records = [record async for record in retriever.export_workspace("docs")]
    wrong = InvalidArgument("the archive is cut off", reason="ARCHIVE_DAMAGED")
    with pytest.raises(InvalidArgument) as caught:
        await retriever.import_workspace("copy", sent(records, wrong))

    assert caught.value is wrong
    assert [one.slug for one in await retriever.list_workspaces()] == ["docs"]


async def test_refusals_of_the_retriever_keep_their_reasons(retriever: RetrieverClient) -> None:
    """A missing workspace, and records that it does not believe."""
    with pytest.raises(NotFound) as missing:
        await anext(retriever.export_workspace("nowhere"))
    with pytest.raises(InvalidArgument) as damaged:
        await retriever.import_workspace("copy", sent([b"\xff"]))

    assert missing.value.reason == "WORKSPACE_NOT_FOUND"
    assert damaged.value.reason == "ARCHIVE_DAMAGED"


async def test_a_client_takes_a_workspace_through_the_gateway(
    retriever: RetrieverClient, tmp_path: Path
) -> None:
    """Out, into a file, in again, and out once more: the same bytes, and the same found."""
    embedder = FakeEmbedder(vector_of=lambda _text, _space: np.array([1, 2, 3, 2], np.float32))
    services = Services(
        FakeRewriter(),
        embedder,
        retriever,
        FakeReranker(),
        FakeIngestion(),
        FakeJobs(),
        FakeReembedding(),
    )
    switches = Switching(SwitchDatabase(tmp_path / "gateway.sqlite").board(), FakeRuleStore())
    application = assembled(services, switches, empty_board(), Mesh([], embedder), *open_access())
    settings = ServerSettings(drain_grace_s=0.0)
    async with (
        running_server(served_services(application), settings, metrics=Metrics()) as server,
        AsyncJustesse(server.address) as client,
    ):
        archive = b"".join([part async for part in client.export_workspace("docs")])
        imported = await client.import_workspace("copy", io.BytesIO(archive))
        again = b"".join([part async for part in client.export_workspace("copy")])
        before, after = [await client.search(slug, "eau") for slug in ("docs", "copy")]
        with pytest.raises(InvalidRequestError, match="cut off"):
            await client.import_workspace("short", io.BytesIO(archive[:-7]))
        listed = await client.list_workspaces()

    assert (imported.document_count, imported.passage_count, imported.vector_count) == (5, 10, 10)
    assert again == archive
    assert len(after.hits) > 4
    assert [(hit.source.external_id, hit.text, hit.rank) for hit in after.hits] == [
        (hit.source.external_id, hit.text, hit.rank) for hit in before.hits
    ]
    assert [one.slug for one in listed] == ["copy", "docs"]
