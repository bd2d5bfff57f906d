"""The asyncio client."""

import asyncio
from typing import TypeAlias, Unpack

import grpc
from google.protobuf.message import Message

from justesse.client import methods, requests
from justesse.client.address import checked_address
from justesse.client.answer_calls_asynchronous import AsyncAnswerCalls
from justesse.client.call_terms import agreed_terms
from justesse.client.channels import DEFAULT_ADDRESS, channel_options
from justesse.client.contexts import Context, ContextOptions
from justesse.client.destination import destination_of
from justesse.client.document_calls_asynchronous import AsyncDocumentCalls
from justesse.client.early_status import EarlyStatus
from justesse.client.encryption import credentials_of
from justesse.client.explanations import SearchExplanation
from justesse.client.failed_calls import error_from
from justesse.client.fusion import Fusion
from justesse.client.glossary_calls_asynchronous import AsyncGlossaryCalls
from justesse.client.ingestion import DocumentFacts, IngestionResult, ingestion_result_from
from justesse.client.job_calls_asynchronous import AsyncJobCalls
from justesse.client.key_calls_asynchronous import AsyncKeyCalls
from justesse.client.mesh_state import MeshState
from justesse.client.requests import CallFor, ResultT
from justesse.client.search_options import SearchOptions
from justesse.client.search_result import SearchResult
from justesse.client.space_calls_asynchronous import AsyncSpaceCalls
from justesse.client.switch_calls_asynchronous import AsyncSwitchCalls
from justesse.client.transfer_calls_asynchronous import AsyncTransferCalls
from justesse.client.uploads import Content, Upload
from justesse.client.workspaces import DeletedWorkspace, Workspace, WorkspaceSettings
from justesse.gateway.v1.ingestion_pb2 import IngestDocumentResponse

IngestCall: TypeAlias = grpc.aio.StreamUnaryCall[Message, IngestDocumentResponse]


class AsyncJustesse(
    AsyncAnswerCalls,
    AsyncDocumentCalls,
    AsyncGlossaryCalls,
    AsyncJobCalls,
    AsyncKeyCalls,
    AsyncSpaceCalls,
    AsyncSwitchCalls,
    AsyncTransferCalls,
):
    """Calls the gateway; belongs to one event loop, and is an asynchronous context manager.

    Every method takes `timeout` in seconds (None waits for ever) and `request_id`, by which the
    call is found in the logs (None makes one up), and raises a `JustesseError` when the call fails.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        api_key: str | None = None,
        tls_ca_file: str | None = None,
        channel: grpc.aio.Channel | None = None,
    ) -> None:
        """Opens a channel to `address` ("host:port"), or uses the one given and leaves it open.

        `api_key` is shown with every call; None takes that of JUSTESSE_API_KEY, or of the file that
        JUSTESSE_API_KEY_FILE names, and "" none. An address that begins with "https://" is called
        encrypted, and so is any where `tls_ca_file` (or JUSTESSE_TLS_CA_FILE) names the CAs, in
        PEM, that are believed in place of the public ones. Raises ValueError for an address that
        cannot be dialled, a key that cannot be sent, and a file that is of no use.
        """
        self._destination = destination_of(address, api_key)
        self._owns_channel = channel is None
        self._channel = channel or _channel(address, tls_ca_file)

    async def __aenter__(self) -> "AsyncJustesse":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the channel; calls under way fail."""
        if self._owns_channel:
            await self._channel.close()

    async def search(
        self,
        workspace: str,
        query: str,
        *,
        timeout: float | None = 5.0,
        request_id: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Finds the passages that answer `query`, best first.

        What else can be asked for stands in `justesse.client.search_options`.
        """
        return await self._answer(requests.search(workspace, query, options), timeout, request_id)

    async def explain(
        self,
        workspace: str,
        query: str,
        external_id: str,
        *,
        chunk_index: int | None = None,
        timeout: float | None = 30.0,
        request_id: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchExplanation:
        """Says what a search does with a document, or with its passage at `chunk_index`, and why.

        Runs the search once; `options` are those of `search`.
        """
        call = requests.explain(workspace, query, external_id, chunk_index, options)
        return await self._answer(call, timeout, request_id)

    async def build_context(
        self,
        workspace: str,
        query: str,
        wanted: ContextOptions | None = None,
        *,
        timeout: float | None = 5.0,
        request_id: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Context:
        """Writes what a search finds as a block of sources, with the prompts that go with it.

        `options` are those of `search`; pages, groups, highlights and parents are left aside.
        """
        call = requests.build_context(workspace, query, wanted or {}, options)
        return await self._answer(call, timeout, request_id)

    async def ingest(
        self,
        workspace: str,
        content: Content,
        *,
        file_name: str = "",
        timeout: float | None = None,
        request_id: str | None = None,
        **facts: Unpack[DocumentFacts],
    ) -> IngestionResult:
        """Takes a file in; once this returns, the document is stored and searchable.

        `content`: a path, or bytes, which need a `file_name`. Raises OSError for a file that cannot
        be read, ValueError and TypeError for facts that cannot be sent.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        send = self._channel.stream_unary(
            methods.INGEST_DOCUMENT.path,
            request_serializer=methods.INGEST_DOCUMENT.request_type.SerializeToString,
            response_deserializer=methods.INGEST_DOCUMENT.response_type.FromString,
        )
        with Upload(workspace, content, file_name, facts) as upload:
            call = send(timeout=terms.timeout, metadata=terms.metadata)
            early_status = EarlyStatus(call)
            try:
                await _write(call, upload)
                return ingestion_result_from(await call)
            except grpc.aio.AioRpcError as error:
                raise error_from(early_status.failure_or(error), terms) from error
            finally:
                # Without effect on a call that has ended.
                call.cancel()

    async def create_workspace(
        self,
        slug: str,
        settings: WorkspaceSettings | None = None,
        *,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Workspace:
        """Creates a workspace; `slug` is lower-case letters, digits and hyphens, at most 63."""
        call = requests.create_workspace(slug, settings or WorkspaceSettings())
        return await self._answer(call, timeout, request_id)

    async def list_workspaces(
        self, *, timeout: float | None = 30.0, request_id: str | None = None
    ) -> tuple[Workspace, ...]:
        """Lists all workspaces by slug."""
        return await self._answer(requests.list_workspaces(), timeout, request_id)

    async def describe_workspace(
        self, slug: str, *, timeout: float | None = 30.0, request_id: str | None = None
    ) -> Workspace:
        """Describes one workspace with its spaces and counts."""
        return await self._answer(requests.describe_workspace(slug), timeout, request_id)

    async def update_workspace(
        self,
        slug: str,
        *,
        fusion: Fusion | None = None,
        reset_fusion: bool = False,
        chunking_profile: str | None = None,
        child_token_count: int | None = None,
        timeout: float | None = 30.0,
        request_id: str | None = None,
    ) -> Workspace:
        """Changes settings of a workspace; `reset_fusion` begins from the defaults.

        Another `chunking_profile` or `child_token_count` counts for documents that come or are
        cut anew.
        """
        call = requests.update_workspace(
            slug, fusion or Fusion(), reset_fusion, chunking_profile, child_token_count
        )
        return await self._answer(call, timeout, request_id)

    async def delete_workspace(
        self, slug: str, *, timeout: float | None = 30.0, request_id: str | None = None
    ) -> DeletedWorkspace:
        """Deletes a workspace with all its documents."""
        return await self._answer(requests.delete_workspace(slug), timeout, request_id)

    async def describe_mesh(
        self, *, timeout: float | None = 30.0, request_id: str | None = None
    ) -> MeshState:
        """Asks the gateway for the health of every service; a silent service is no error."""
        return await self._answer(requests.describe_mesh(), timeout, request_id)

    async def _answer(
        self, call: CallFor[ResultT], timeout: float | None, request_id: str | None
    ) -> ResultT:
        terms = agreed_terms(self._destination, timeout, request_id)
        send = self._channel.unary_unary(
            call.method.path,
            request_serializer=call.method.request_type.SerializeToString,
            response_deserializer=call.method.response_type.FromString,
        )
        try:
            response = await send(call.request, timeout=terms.timeout, metadata=terms.metadata)
        except grpc.aio.AioRpcError as error:
            raise error_from(error, terms) from error
        return call.decode(response)


async def _write(call: IngestCall, upload: Upload) -> None:
    """Sends an upload; returns early when the service has answered before it heard the end."""
    try:
        await call.write(upload.header)
        while part := await asyncio.to_thread(upload.next_part):
            await call.write(part)
        await call.done_writing()
    except grpc.aio.InternalError:
        # The call ended while a message was handed over, say by its deadline; its status says why.
        return
    except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
        if not call.done():
            raise


def _channel(address: str, tls_ca_file: str | None) -> grpc.aio.Channel:
    target = checked_address(address)
    credentials = credentials_of(address, tls_ca_file)
    if credentials is None:
        return grpc.aio.insecure_channel(target, channel_options())
    return grpc.aio.secure_channel(target, credentials, channel_options())
