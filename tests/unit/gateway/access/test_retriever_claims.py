"""The gateway claims what its caller is granted, and the retriever refuses everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc.aio
import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.errors import Internal, NotFound, ServiceError
from chassis.metrics import Metrics
from chassis.signed_claims import METADATA_KEY, SignedClaims
from gateway.access.call_access import CallAccess, bind_access
from gateway.access.claimed_actions import action_of_call, action_of_ingestion
from gateway.access.grants import Action, Grants
from gateway.access.needs import Need, Reach
from gateway.clients.retriever import RetrieverClient, retriever_over
from gateway.documents import Document, Passage, VectorBlock
from gateway.filters import FieldExists
from gateway.searching import PassageSearch, QueryVariant, SearchMode
from gateway.spaces import PassageVectorsPut, PassageWindowsPut
from gateway.workspaces import WorkspaceSettings, WorkspaceUpdate
from justesse.retriever.v1 import documents_pb2
from retriever_svc.service import running_retriever
from retriever_svc.settings import RetrieverSettings
from tests.fakes.gateway_services.keys import grant

SETTINGS = WorkspaceSettings("fr", "structure", "default")
DOCUMENT = Document("a.md", content_hash="h")
Called = Callable[[RetrieverClient, str], Awaitable[object]]


def search_in(workspace: str) -> PassageSearch:
    """Returns a search by words."""
    return PassageSearch(workspace, (QueryVariant("retards"),), SearchMode.LEXICAL)


def vectors_put() -> PassageVectorsPut:
    """Returns a put of no vectors."""
    return PassageVectorsPut((), VectorBlock("s", np.zeros((0, 4), np.float32)), "holder")


async def exported(client: RetrieverClient, slug: str) -> list[bytes]:
    """Returns all records of a workspace."""
    return [record async for record in client.export_workspace(slug)]


async def nothing() -> AsyncIterator[bytes]:
    """Yields no record."""
    records: list[bytes] = []
    for record in records:
        yield record


READS: dict[str, Called] = {
    "describe_workspace": lambda client, slug: client.describe_workspace(slug),
    "get_document": lambda client, slug: client.get_document(slug, "a.md"),
    "list_documents": lambda client, slug: client.list_documents(slug),
    "find_documents": lambda client, slug: client.find_documents(slug, FieldExists("category")),
    "read_parents": lambda client, slug: client.read_parents(slug, ["1"]),
    "search_passages": lambda client, slug: client.search_passages(search_in(slug)),
    "explain_passages": lambda client, slug: client.explain_passages(search_in(slug), "a.md"),
    "list_passages_awaiting": lambda client, slug: client.list_passages_awaiting(slug, "s"),
}
WRITES: dict[str, Called] = {
    "upsert_document": lambda client, slug: client.upsert_document(slug, DOCUMENT, []),
    "delete_document": lambda client, slug: client.delete_document(slug, "none"),
    "lease_space": lambda client, slug: client.lease_space(slug, "s", "holder", 1.0),
    "put_vectors": lambda client, slug: client.put_vectors(slug, vectors_put()),
    "put_windows": lambda client, slug: client.put_windows(slug, PassageWindowsPut("s", 4, (), ())),
}
CHANGES: dict[str, Called] = {
    "create_workspace": lambda client, slug: client.create_workspace(slug, SETTINGS),
    "update_workspace": lambda client, slug: client.update_workspace(WorkspaceUpdate(slug)),
    "switch_space": lambda client, slug: client.switch_space(slug, "s"),
    "drop_space": lambda client, slug: client.drop_space(slug, "s"),
    "export_workspace": lambda client, slug: exported(client, slug),
    "import_workspace": lambda client, slug: client.import_workspace(slug, nothing()),
    "delete_workspace": lambda client, slug: client.delete_workspace(slug),
}
CALLS = READS | WRITES | CHANGES


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A secret that both sides have."""
    file = tmp_path / "secret"
    file.write_text("s" * 64)
    return file


@asynccontextmanager
async def served(folder: Path, secret: Path) -> AsyncIterator[grpc.aio.Channel]:
    """Serves a retriever that asks for claims; yields a channel to it."""
    settings = RetrieverSettings(
        port=0,
        management_port=0,
        metrics_port=0,
        data_folder=folder / "store",
        claim_secret_file=secret,
        drain_grace_s=0.0,
    )
    async with (
        running_retriever(settings) as server,
        open_channel(server.address, metrics=Metrics()) as channel,
    ):
        yield channel


@pytest.fixture
async def channel(tmp_path: Path, secret: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a retriever that asks for claims and holds workspaces `sales` and `hr`."""
    async with served(tmp_path, secret) as opened:
        ingestion = retriever_over(opened, secret, action_of_ingestion)
        for slug in ("sales", "hr"):
            await ingestion.create_workspace(slug, SETTINGS)
            await ingestion.upsert_document(slug, DOCUMENT, [Passage(0, "Retards à Marseille.")])
        yield opened


async def refused_by(client: RetrieverClient, calls: dict[str, Called], slug: str) -> set[str]:
    """Returns the names of the calls that the retriever refuses for their claim."""
    refused = set()
    for name, call in calls.items():
        try:
            await call(client, slug)
        except Internal as error:
            # No fault of the caller's.
            if error.reason == "CLAIM_REFUSED":
                refused.add(name)
        except ServiceError:
            continue
    return refused


def admitted(action: Action, *workspaces: str) -> None:
    """Serves a call that was admitted with this action in these workspaces."""
    grants = Grants.of_all(*(grant(slug, action) for slug in workspaces))
    bind_access(CallAccess(None, grants, Need(Reach.WORKSPACE, action, "workspace")))


def test_every_call_of_the_retriever_is_tried_here() -> None:
    """A method that is added shows up in one of the tables."""
    methods = {name for name in dir(RetrieverClient) if not name.startswith("_")}

    assert methods - {"list_workspaces"} == CALLS.keys()


async def test_a_call_without_a_claim_is_refused(channel: grpc.aio.Channel) -> None:
    """Whatever it asks, before any work; nothing was changed."""
    bare = RetrieverClient(channel)

    assert await refused_by(bare, CALLS, "sales") == CALLS.keys()
    assert await refused_by(bare, {"all": lambda c, _: c.list_workspaces()}, "") == {"all"}


async def test_the_ingestion_role_may_do_all_its_work(
    channel: grpc.aio.Channel, secret: Path
) -> None:
    """Streams and lists of workspaces included."""
    client = retriever_over(channel, secret, action_of_ingestion)

    assert await refused_by(client, CALLS, "sales") == set()
    assert [each.slug for each in await client.list_workspaces()] == ["hr"]


@pytest.mark.parametrize(
    ("action", "refused"),
    [
        (Action.READ, WRITES.keys() | CHANGES.keys()),
        (Action.WRITE, CHANGES.keys()),
        (Action.ADMIN, set()),
    ],
)
async def test_a_call_may_do_what_it_was_admitted_for(
    channel: grpc.aio.Channel, secret: Path, action: Action, refused: set[str]
) -> None:
    """A gateway that goes astray with a reader's call changes nothing."""
    client = retriever_over(channel, secret, action_of_call)
    admitted(action, "sales")

    assert await refused_by(client, CALLS, "sales") == refused
    assert {each.slug for each in await client.list_workspaces()} >= {"hr"}


async def test_a_call_claims_nothing_beyond_its_grants(
    channel: grpc.aio.Channel, secret: Path
) -> None:
    """Not another workspace, nor anything where no call was admitted."""
    client = retriever_over(channel, secret, action_of_call)

    assert await refused_by(client, READS, "hr") == READS.keys()
    admitted(Action.READ, "sales")
    with pytest.raises(NotFound, match="there is no workspace 'hr'"):
        await client.describe_workspace("hr")


async def test_a_claim_counts_for_the_workspace_in_the_message(
    channel: grpc.aio.Channel, secret: Path
) -> None:
    """One that was signed for another is refused, of streams too; two are as none."""
    claims = SignedClaims(secret)
    mine = (METADATA_KEY, claims.sign("sales", "admin"))
    every = (METADATA_KEY, claims.sign("*", "admin"))
    get = channel.unary_unary(
        "/justesse.retriever.v1.DocumentService/GetDocument",
        request_serializer=documents_pb2.GetDocumentRequest.SerializeToString,
        response_deserializer=documents_pb2.GetDocumentResponse.FromString,
    )
    upsert = channel.stream_unary(
        "/justesse.retriever.v1.DocumentService/UpsertDocument",
        request_serializer=documents_pb2.UpsertDocumentRequest.SerializeToString,
        response_deserializer=documents_pb2.UpsertDocumentResponse.FromString,
    )

    def request(slug: str) -> documents_pb2.GetDocumentRequest:
        return documents_pb2.GetDocumentRequest(workspace=slug, external_id="a.md")

    def headers(*slugs: str) -> Iterator[documents_pb2.UpsertDocumentRequest]:
        document = documents_pb2.Document(external_id="b.md", content_hash="h")
        for slug in slugs:
            header = documents_pb2.DocumentHeader(workspace=slug, document=document)
            yield documents_pb2.UpsertDocumentRequest(header=header)

    assert (await get(request("sales"), metadata=(mine,))).document.external_id == "a.md"
    refused = (
        get(request("hr"), metadata=(mine,)),
        get(request("sales"), metadata=(every,)),
        get(request("sales"), metadata=(mine, mine)),
        upsert(headers("hr"), metadata=(mine,)),
        upsert(headers("sales", "hr"), metadata=(mine,)),
    )
    for call in refused:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call
        assert error.value.code() is grpc.StatusCode.PERMISSION_DENIED
    stored = await retriever_over(channel, secret, action_of_ingestion).list_documents("sales")
    assert [each.document.external_id for each in stored.documents] == ["a.md"]
