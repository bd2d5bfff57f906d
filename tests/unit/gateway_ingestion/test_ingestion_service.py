"""The ingestion role over real connections."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from chassis.channel import open_channel
from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument, NotFound, ResourceExhausted, ServiceError
from chassis.metrics import Metrics
from chassis.settings import SettingsError, read_settings
from gateway.clients.ingestion import IngestionClient
from gateway.documents import MetadataValue
from gateway.incoming_files import IncomingFile, IngestionOutcome
from gateway.ingestion.embedding_calls import BatchLimits
from gateway.ingestion.extraction.limits import ExtractionLimits
from gateway.ingestion.service import running_ingestion
from gateway.ingestion.settings import IngestionSettings
from justesse.gateway.v1 import ingestion_pb2 as pb
from justesse.gateway.v1 import ingestion_pb2_grpc
from tests.fakes.chained_embedder import ChainedEmbedder
from tests.fakes.embedder import FakeEmbedder, serving_fake_embedder
from tests.fakes.ingestion_desk import desk_settings
from tests.fakes.passage_store import FakePassageStore
from tests.fakes.pdf import pdf_file

LIMIT = 4 * 1024 * 1024


@dataclass
class Role:
    """A served ingestion role and a channel to it."""

    channel: grpc.aio.Channel
    store: FakePassageStore
    folder: Path

    async def ingest(self, *messages: pb.IngestDocumentRequest) -> pb.IngestDocumentResponse:
        """Sends messages as they are; raises the ServiceError of the answer."""
        stub = ingestion_pb2_grpc.IngestionServiceStub(self.channel)
        try:
            response: pb.IngestDocumentResponse = await stub.IngestDocument(iter(messages))
        except grpc.RpcError as error:
            raise service_error_from(error) from error
        return response

    def uploads(self) -> list[Path]:
        """Files that are still on their way."""
        return list((self.folder / "incoming").iterdir())


@pytest.fixture
async def role(tmp_path: Path) -> AsyncIterator[Role]:
    """A role over a store in memory, with workspace "w"."""
    store = FakePassageStore()
    store.add_workspace("w")
    settings = desk_settings(tmp_path, max_file_bytes=LIMIT, drain_grace_s=0)
    async with (
        running_ingestion(
            settings, embedder=ChainedEmbedder(), store=store, metrics=Metrics()
        ) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield Role(channel, store, tmp_path)


async def until(holds: Callable[[], bool]) -> None:
    """Waits for something on disk, which sends no signal."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def header(name: str = "a.md", workspace: str = "w") -> pb.IngestDocumentRequest:
    """A first message."""
    return pb.IngestDocumentRequest(header=pb.IngestionHeader(workspace=workspace, file_name=name))


def content(*pieces: bytes) -> Iterable[pb.IngestDocumentRequest]:
    """The messages after the first."""
    return (pb.IngestDocumentRequest(content=piece) for piece in pieces)


async def test_a_file_in_many_pieces_arrives_whole(role: Role) -> None:
    """A PDF with French text, cut at arbitrary places."""
    data = pdf_file([["Délais de livraison à Sète"]], title="Délais")
    pieces = [data[start : start + 100] for start in range(0, len(data), 100)]

    response = await role.ingest(header("delais.pdf"), *content(*pieces))

    assert response.outcome == pb.INGESTION_OUTCOME_CREATED
    assert (response.external_id, response.title) == ("delais.pdf", "Délais")
    passage = role.store.passages("w", "delais.pdf")[0]
    assert (passage.text, passage.location) == ("Délais de livraison à Sète", "page 1")
    original = next((role.folder / "originals").rglob("*.pdf"))
    assert hashlib.sha256(original.read_bytes()).digest() == hashlib.sha256(data).digest()


async def test_the_gateway_s_client_brings_every_field(role: Role) -> None:
    """What the owner says of a document is what is stored."""
    metadata: dict[str, MetadataValue] = {"week": 12.0, "team": "qualité", "urgent": True}
    file = IncomingFile(
        "w", "a.md", "id-1", "Titre", ("clé",), "https://x", "cat", "en", metadata, "2", True
    )

    async def pieces() -> AsyncIterator[bytes]:
        yield b"Bonjour."

    report = await IngestionClient(role.channel).ingest_document(file, pieces())

    assert (report.outcome, report.external_id) == (IngestionOutcome.CREATED, "id-1")
    stored = role.store.documents["w", "id-1"].document
    assert (stored.title, stored.keywords, stored.source_uri) == ("Titre", ("clé",), "https://x")
    assert (stored.category, stored.language, stored.version) == ("cat", "en", "2")
    assert stored.metadata == metadata
    assert stored.superseded


@pytest.mark.parametrize(
    ("messages", "kind", "named"),
    [
        ([], InvalidArgument, "header"),
        ([*content(b"x")], InvalidArgument, "header"),
        ([pb.IngestDocumentRequest()], InvalidArgument, "header"),
        ([header(), header()], InvalidArgument, "content"),
        ([header()], InvalidArgument, "a.md: the file is empty"),
        ([header(), *content(b"", b"")], InvalidArgument, "empty"),
        ([header("a.exe"), *content(b"x")], InvalidArgument, "a.exe"),
        ([header(""), *content(b"x")], InvalidArgument, "file_name"),
        ([header(workspace=""), *content(b"x")], InvalidArgument, "workspace"),
        ([header(workspace="nowhere"), *content(b"x")], NotFound, "nowhere"),
        ([header(), *content(*[b"x" * 2**20] * 5)], ResourceExhausted, str(LIMIT)),
    ],
    ids=[
        "no message", "no header", "empty message", "two headers", "no content", "empty content",
        "type", "no name", "no workspace", "unknown workspace", "too large",
    ],
)  # fmt: skip
async def test_a_wrong_upload_is_refused_and_leaves_nothing(
    role: Role, messages: list[pb.IngestDocumentRequest], kind: type[ServiceError], named: str
) -> None:
    """The answer names what was wrong; neither disk nor store keep anything."""
    with pytest.raises(kind) as raised:
        await role.ingest(*messages)

    assert named in raised.value.message
    assert role.uploads() == []
    assert not (role.folder / "originals" / "w").exists()
    assert role.store.documents == {}


async def test_an_upload_given_up_half_way_leaves_nothing(role: Role) -> None:
    """A client that cancels has sent no document."""
    stub = ingestion_pb2_grpc.IngestionServiceStub(role.channel)
    call = stub.IngestDocument()
    await call.write(header())
    await call.write(pb.IngestDocumentRequest(content=b"# Half"))
    await until(lambda: len(role.uploads()) == 1)
    call.cancel()
    await until(lambda: not role.uploads())

    # Files of one document are taken in in turn: this one would wait for the other.
    whole = await role.ingest(header(), *content(b"# Whole"))

    assert whole.outcome == pb.INGESTION_OUTCOME_CREATED
    assert [passage.text for passage in role.store.passages("w", "a.md")] == ["# Whole"]
    assert len(role.store.upserts) == 1


async def test_files_of_a_killed_process_are_swept_at_start(tmp_path: Path) -> None:
    """The folder of unfinished files does not grow over restarts."""
    left = tmp_path / "incoming" / "incoming-left"
    left.parent.mkdir()
    left.write_bytes(b"half a file")
    settings = desk_settings(tmp_path)

    async with running_ingestion(settings, metrics=Metrics()):
        assert not left.exists()


async def test_vectors_come_over_the_embedder_s_contract(tmp_path: Path) -> None:
    """The role finds the embedder by its address; a lost one only costs the vectors."""
    store, embedder = FakePassageStore(), FakeEmbedder()
    store.add_workspace("w")
    async with serving_fake_embedder(embedder) as target:
        settings = desk_settings(tmp_path, embedder_target=target)
        async with (
            running_ingestion(settings, store=store, metrics=Metrics()) as server,
            open_channel(server.address, metrics=Metrics()) as channel,
        ):
            role = Role(channel, store, tmp_path)
            first = await role.ingest(header("a.md"), *content(b"Bonjour."))
            embedder.break_down()
            second = await role.ingest(header("b.md"), *content(b"Bonsoir."))

    assert first.space_id == embedder.space_ids[0]
    assert embedder.embedded_texts == ["a\nBonjour."]
    assert (second.passage_count, second.awaiting_passage_count) == (1, 1)
    assert "down" in second.warnings[0]


async def test_refusals_and_windows_come_over_the_embedder_s_contract(tmp_path: Path) -> None:
    """One passage that no model takes costs itself alone, and is named; others get windows."""
    store, embedder = FakePassageStore(), FakeEmbedder()
    store.add_workspace("w")
    embedder.refused_words, embedder.windows_recommended = {"poison"}, True
    text = "# Un\n\n" + "Le quai. " * 300 + "\n\n# Deux\n\n" + "Le poison du quai. " * 150
    async with serving_fake_embedder(embedder) as target:
        settings = desk_settings(tmp_path, embedder_target=target)
        async with (
            running_ingestion(settings, store=store, metrics=Metrics()) as server,
            open_channel(server.address, metrics=Metrics()) as channel,
        ):
            role = Role(channel, store, tmp_path)
            response = await role.ingest(header("a.md"), *content(text.encode()))

    assert (response.passage_count, response.awaiting_passage_count) == (2, 1)
    assert store.spaces("w", "a.md") == [(embedder.space_ids[0],), ()]
    assert [bool(count) for count in store.window_counts["w", "a.md"]] == [True, False]
    assert "1 (passage 1: the model refuses poison)" in response.warnings[0]


def test_settings_become_limits() -> None:
    """Every limit of the design can be set; the defaults are its own."""
    assert IngestionSettings().extraction_limits() == ExtractionLimits()
    assert IngestionSettings().batch_limits() == BatchLimits()

    settings = read_settings(
        IngestionSettings,
        {"JUSTESSE_INGESTION_PARSER_MEMORY_MB": "512", "JUSTESSE_INGESTION_EMBED_CALLS": "3"},
    )

    assert settings.extraction_limits().memory_bytes == 512 * 1024 * 1024
    assert settings.batch_limits().calls == 3
    assert (settings.port, settings.management_port) == (50055, 51055)


def test_wrong_settings_are_all_named() -> None:
    """One line for each."""
    with pytest.raises(SettingsError) as raised:
        read_settings(
            IngestionSettings,
            {"JUSTESSE_INGESTION_MAX_PAGES": "0", "JUSTESSE_INGESTION_EMBED_CALLS": "many"},
        )

    assert len(raised.value.lines) == 2
