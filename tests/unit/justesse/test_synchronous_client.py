"""The synchronous client against a channel that the test answers on."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import grpc
import grpc_testing
import pytest
from google.protobuf.message import Message

from chassis.error_mapping import rich_status
from chassis.errors import Unavailable
from justesse.client import (
    IngestionOutcome,
    Justesse,
    Speaker,
    Turn,
    UnavailableError,
    WorkspaceSettings,
)
from justesse.client.failed_calls import DETAILS_KEY
from justesse.client.workspaces import DenseIndexKind
from justesse.gateway.v1 import (
    documents_pb2,
    ingestion_pb2,
    mesh_pb2,
    search_pb2,
    switches_pb2,
    workspaces_pb2,
)
from tests.fakes.fake_gateway.search import search_response

FILES = (documents_pb2, ingestion_pb2, mesh_pb2, search_pb2, switches_pb2, workspaces_pb2)
SERVICES = {
    service.name: service for file in FILES for service in file.DESCRIPTOR.services_by_name.values()
}
ResultT = TypeVar("ResultT")


class AnsweredChannel:
    """Runs calls in a thread while the test plays the service."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.channel = grpc_testing.channel(SERVICES.values(), grpc_testing.strict_real_time())
        self._threads = threads
        self.metadata: dict[str, str] = {}

    def begin(self, call: Callable[[Justesse], ResultT]) -> "Future[ResultT]":
        """Starts a call."""
        return self._threads.submit(call, Justesse("host:1", channel=self.channel))

    def answer(
        self, call: Callable[[Justesse], ResultT], service: str, method: str, response: Message
    ) -> tuple[ResultT, Any]:
        """Answers one call; returns what the caller got and what the service was asked."""
        future = self.begin(call)
        metadata, request, rpc = self.channel.take_unary_unary(
            SERVICES[service].methods_by_name[method]
        )
        self.metadata = dict(metadata)
        rpc.send_initial_metadata(())
        rpc.terminate(response, (), grpc.StatusCode.OK, "")
        return future.result(timeout=10), request


@pytest.fixture
def answered() -> Iterator[AnsweredChannel]:
    """A channel to answer on."""
    with ThreadPoolExecutor(max_workers=2) as threads:
        yield AnsweredChannel(threads)


def test_search_sends_the_question_and_types_the_answer(answered: AnsweredChannel) -> None:
    """All that may be asked is sent, and all that is answered is typed."""
    result, request = answered.answer(
        lambda justesse: justesse.search(
            "demo",
            "Pourquoi des retards ?",
            limit=3,
            history=[Turn(Speaker.USER, "Bonjour"), Turn(Speaker.ASSISTANT, "Bonjour !")],
            passages_per_document=2,
            request_id="r-1",
        ),
        "SearchService",
        "SearchPassages",
        search_response("r-1"),
    )
    assert request == search_pb2.SearchPassagesRequest(
        workspace="demo",
        query="Pourquoi des retards ?",
        limit=3,
        history=[
            search_pb2.ConversationTurn(role=search_pb2.CONVERSATION_ROLE_USER, text="Bonjour"),
            search_pb2.ConversationTurn(
                role=search_pb2.CONVERSATION_ROLE_ASSISTANT, text="Bonjour !"
            ),
        ],
        passages_per_document=2,
    )
    assert answered.metadata["x-request-id"] == "r-1"
    first, second = result.hits
    assert first.heading_path == ("Retards", "Causes")
    assert first.source.metadata == {"year": 2024.0}
    assert (first.scores.dense_rank, first.scores.bm25_rank) == (2, 1)
    assert first.scores.cosine == 0.875
    assert (first.scores.rerank_rank, first.scores.rerank_score) == (1, 0.96875)
    assert second.scores.dense_rank is None
    assert second.scores.cosine is None
    assert second.scores.rerank_rank is None
    assert second.source.update_time is None
    assert [stage.outcome for stage in result.receipt.stages] == [
        "skipped",
        "ran",
        "ran",
        "degraded",
    ]
    assert result.receipt.stages[0].cost is None
    assert result.receipt.costs[0].currency == "EUR"
    assert result.searched_queries == ("Pourquoi des retards ?", "causes retards livraison")


def test_limit_that_is_not_given_is_not_sent(answered: AnsweredChannel) -> None:
    """The service's own default counts where the caller says nothing; 0 is said, not left out."""
    response = search_pb2.SearchPassagesResponse()
    for limit in (None, 0):
        _, request = answered.answer(
            lambda justesse, limit=limit: justesse.search("demo", "q", limit=limit),  # type: ignore[misc]
            "SearchService",
            "SearchPassages",
            response,
        )
        assert request.HasField("limit") == (limit is not None)


def test_calls_without_an_id_get_one_each(answered: AnsweredChannel) -> None:
    """Two calls can be told apart in the logs although the caller names neither."""
    ids = set()
    for _ in range(2):
        answered.answer(
            lambda justesse: justesse.list_workspaces(),
            "WorkspaceService",
            "ListWorkspaces",
            workspaces_pb2.ListWorkspacesResponse(),
        )
        ids.add(answered.metadata["x-request-id"])
    assert len(ids) == 2


def test_ill_formed_request_id_is_refused(answered: AnsweredChannel) -> None:
    """An id that the services would replace is refused before anything is sent."""
    future = answered.begin(lambda justesse: justesse.list_workspaces(request_id="a b"))
    with pytest.raises(ValueError, match="request_id: 'a b' must be"):
        future.result(timeout=10)


def test_workspace_settings_are_sent(answered: AnsweredChannel) -> None:
    """Choices for a workspace arrive, and come back typed."""
    settings = workspaces_pb2.WorkspaceSettings(
        language="en", dense_index_kind=workspaces_pb2.DENSE_INDEX_KIND_HNSW
    )
    workspace, request = answered.answer(
        lambda justesse: justesse.create_workspace(
            "demo", WorkspaceSettings(language="en", dense_index_kind=DenseIndexKind.HNSW)
        ),
        "WorkspaceService",
        "CreateWorkspace",
        workspaces_pb2.CreateWorkspaceResponse(
            workspace=workspaces_pb2.Workspace(slug="demo", settings=settings)
        ),
    )
    assert request.settings == settings
    assert workspace.settings.dense_index_kind is DenseIndexKind.HNSW
    assert workspace.create_time is None


def test_values_newer_than_the_client_are_unknown(answered: AnsweredChannel) -> None:
    """A set that has grown on the service's side does not break the client."""
    response = search_pb2.SearchPassagesResponse()
    response.receipt.stages.add(stage="judge", outcome=99)
    result, _ = answered.answer(
        lambda justesse: justesse.search("demo", "q"), "SearchService", "SearchPassages", response
    )
    assert result.receipt.stages[0].outcome == "unknown"


def test_failure_is_typed(answered: AnsweredChannel) -> None:
    """A failed call raises the error of its status with the reason and the id of the call."""
    status = rich_status(Unavailable("the retriever does not answer", reason="RETRIEVER_DOWN"))
    future = answered.begin(lambda justesse: justesse.search("demo", "q", request_id="r-2"))
    _, _, rpc = answered.channel.take_unary_unary(
        SERVICES["SearchService"].methods_by_name["SearchPassages"]
    )
    trailing = ((DETAILS_KEY, status.SerializeToString()),)
    rpc.send_initial_metadata(())
    rpc.terminate(None, trailing, grpc.StatusCode.UNAVAILABLE, status.message)
    with pytest.raises(UnavailableError, match="the retriever does not answer") as raised:
        future.result(timeout=10)
    assert (raised.value.reason, raised.value.request_id) == ("RETRIEVER_DOWN", "r-2")


def test_file_is_sent_in_parts(answered: AnsweredChannel, tmp_path: Path) -> None:
    """The header goes first, the bytes follow in order, and the name is the file's own."""
    content = bytes(range(256)) * 2100
    path = tmp_path / "tarifs.txt"
    path.write_bytes(content)
    future = answered.begin(lambda justesse: justesse.ingest("demo", path, category="policies"))
    _, rpc = answered.channel.take_stream_unary(
        SERVICES["IngestionService"].methods_by_name["IngestDocument"]
    )
    header = rpc.take_request().header
    parts: list[bytes] = []
    while sum(len(part) for part in parts) < len(content):
        parts.append(rpc.take_request().content)
    rpc.requests_closed()
    rpc.send_initial_metadata(())
    outcome = ingestion_pb2.INGESTION_OUTCOME_REPLACED
    response = ingestion_pb2.IngestDocumentResponse(outcome=outcome, warnings=["bom dropped"])
    rpc.terminate(response, (), grpc.StatusCode.OK, "")
    result = future.result(timeout=10)
    assert (header.file_name, header.category) == ("tarifs.txt", "policies")
    assert header.byte_count == len(content)
    assert b"".join(parts) == content
    assert max(len(part) for part in parts) == 256 * 1024
    assert result.outcome is IngestionOutcome.REPLACED
    assert result.warnings == ("bom dropped",)


def test_bytes_need_a_name(answered: AnsweredChannel) -> None:
    """Bytes without a file name cannot be typed and are refused before anything is sent."""
    future = answered.begin(lambda justesse: justesse.ingest("demo", b"text"))
    with pytest.raises(ValueError, match="file_name: bytes need one"):
        future.result(timeout=10)


def test_missing_file_is_an_os_error(answered: AnsweredChannel, tmp_path: Path) -> None:
    """A path that does not exist fails as opening it does."""
    future = answered.begin(lambda justesse: justesse.ingest("demo", tmp_path / "gone.md"))
    with pytest.raises(FileNotFoundError):
        future.result(timeout=10)


def test_refused_upload_is_typed(answered: AnsweredChannel) -> None:
    """An upload that the service ends raises the error of its status."""
    future = answered.begin(lambda justesse: justesse.ingest("demo", b"x", file_name="a.md"))
    _, rpc = answered.channel.take_stream_unary(
        SERVICES["IngestionService"].methods_by_name["IngestDocument"]
    )
    rpc.send_initial_metadata(())
    rpc.terminate(None, (), grpc.StatusCode.CANCELLED, "shutting down")
    with pytest.raises(UnavailableError, match="shutting down") as raised:
        future.result(timeout=10)
    assert raised.value.status == "CANCELLED"
