"""What each call sends and how its answer is read: the part that both clients share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from justesse.client import methods
from justesse.client.contexts import Context, ContextOptions, context_from, context_message
from justesse.client.documents import (
    DeletedDocument,
    DeletedSource,
    DocumentPage,
    DocumentWithPassages,
    deleted_source_from,
    document_page_from,
    document_with_passages_from,
)
from justesse.client.explanations import SearchExplanation, search_explanation_from
from justesse.client.fusion import Fusion, fusion_message
from justesse.client.ingestion import IngestionResult, ingestion_result_from
from justesse.client.jobs import Job, JobPage, job_from, job_page_from
from justesse.client.mesh_state import MeshState, mesh_state_from
from justesse.client.method import Method, RequestT, ResponseT
from justesse.client.search_options import SearchOptions, search_message
from justesse.client.search_result import SearchResult, search_result_from
from justesse.client.spaces import DroppedSpace, SpaceSwitch
from justesse.client.workspaces import (
    DeletedWorkspace,
    Workspace,
    WorkspaceSettings,
    settings_message,
    workspace_from,
)
from justesse.gateway.v1 import (
    documents_pb2,
    explanations_pb2,
    ingestion_pb2,
    jobs_pb2,
    mesh_pb2,
    spaces_pb2,
    workspaces_pb2,
)

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Call(Generic[RequestT, ResponseT, ResultT]):
    """A call that is ready to be sent."""

    method: Method[RequestT, ResponseT]
    request: RequestT
    decode: Callable[[ResponseT], ResultT]


CallFor: TypeAlias = Call[Any, Any, ResultT]


def search(workspace: str, query: str, options: SearchOptions) -> CallFor[SearchResult]:
    """Asks for the passages that answer a question."""
    request = search_message(workspace, query, options)
    return Call(methods.SEARCH_PASSAGES, request, search_result_from)


def explain(
    workspace: str, query: str, external_id: str, chunk_index: int | None, options: SearchOptions
) -> CallFor[SearchExplanation]:
    """Asks what a search does with the passages of a document."""
    request = explanations_pb2.ExplainSearchRequest(
        search=search_message(workspace, query, options),
        external_id=external_id,
        chunk_index=chunk_index,
    )
    return Call(methods.EXPLAIN_SEARCH, request, search_explanation_from)


def build_context(
    workspace: str, query: str, wanted: ContextOptions, options: SearchOptions
) -> CallFor[Context]:
    """Asks for a block of sources with its prompts."""
    request = context_message(workspace, query, wanted, options)
    return Call(methods.BUILD_CONTEXT, request, context_from)


def create_workspace(slug: str, settings: WorkspaceSettings) -> CallFor[Workspace]:
    """Asks for a new workspace; ValueError for settings that cannot be asked for."""
    request = workspaces_pb2.CreateWorkspaceRequest(slug=slug, settings=settings_message(settings))
    return Call(
        methods.CREATE_WORKSPACE, request, lambda response: workspace_from(response.workspace)
    )


def list_workspaces() -> CallFor[tuple[Workspace, ...]]:
    """Asks for all workspaces."""
    return Call(
        methods.LIST_WORKSPACES,
        workspaces_pb2.ListWorkspacesRequest(),
        lambda response: tuple(workspace_from(each) for each in response.workspaces),
    )


def describe_workspace(slug: str) -> CallFor[Workspace]:
    """Asks for one workspace."""
    return Call(
        methods.DESCRIBE_WORKSPACE,
        workspaces_pb2.DescribeWorkspaceRequest(slug=slug),
        lambda response: workspace_from(response.workspace),
    )


def update_workspace(
    slug: str,
    fusion: Fusion,
    reset_fusion: bool,
    chunking_profile: str | None,
    child_token_count: int | None,
) -> CallFor[Workspace]:
    """Asks for other settings of a workspace."""
    request = workspaces_pb2.UpdateWorkspaceRequest(
        slug=slug,
        fusion=fusion_message(fusion),
        reset_fusion=reset_fusion,
        chunking_profile=chunking_profile,
        child_token_count=child_token_count,
    )
    return Call(
        methods.UPDATE_WORKSPACE, request, lambda response: workspace_from(response.workspace)
    )


def delete_workspace(slug: str) -> CallFor[DeletedWorkspace]:
    """Asks for the end of a workspace."""
    return Call(
        methods.DELETE_WORKSPACE,
        workspaces_pb2.DeleteWorkspaceRequest(slug=slug),
        lambda response: DeletedWorkspace(
            response.document_count,
            response.passage_count,
            response.original_count,
            response.original_failure,
            response.purge_within_s,
        ),
    )


def get_document(workspace: str, external_id: str) -> CallFor[DocumentWithPassages]:
    """Asks for one document."""
    request = documents_pb2.GetDocumentRequest(workspace=workspace, external_id=external_id)
    return Call(methods.GET_DOCUMENT, request, document_with_passages_from)


def list_documents(workspace: str, page_size: int, page_token: str) -> CallFor[DocumentPage]:
    """Asks for one page of documents."""
    request = documents_pb2.ListDocumentsRequest(
        workspace=workspace, page_size=page_size, page_token=page_token
    )
    return Call(methods.LIST_DOCUMENTS, request, document_page_from)


def delete_document(workspace: str, external_id: str) -> CallFor[DeletedDocument]:
    """Asks for the end of a document."""
    return Call(
        methods.DELETE_DOCUMENT,
        documents_pb2.DeleteDocumentRequest(workspace=workspace, external_id=external_id),
        lambda response: DeletedDocument(
            response.deleted,
            response.passage_count,
            response.original_count,
            response.original_failure,
            response.purge_within_s,
        ),
    )


def delete_source(workspace: str, source_uri: str) -> CallFor[DeletedSource]:
    """Asks for the end of the documents of a source."""
    request = documents_pb2.DeleteSourceRequest(workspace=workspace, source_uri=source_uri)
    return Call(methods.DELETE_SOURCE, request, deleted_source_from)


def rechunk_document(workspace: str, external_id: str) -> CallFor[IngestionResult]:
    """Asks for a document to be cut anew from its kept file."""
    return Call(
        methods.RECHUNK_DOCUMENT,
        ingestion_pb2.RechunkDocumentRequest(workspace=workspace, external_id=external_id),
        lambda response: ingestion_result_from(response.result),
    )


def delete_originals(workspace: str, external_id: str) -> CallFor[int]:
    """Asks for kept files of what is gone to be deleted."""
    return Call(
        methods.DELETE_ORIGINALS,
        ingestion_pb2.DeleteOriginalsRequest(workspace=workspace, external_id=external_id),
        lambda response: response.original_count,
    )


def switch_space(workspace: str, space_id: str, require_complete: bool) -> CallFor[SpaceSwitch]:
    """Asks for another preferred space."""
    request = spaces_pb2.SwitchSpaceRequest(
        workspace=workspace, space_id=space_id, require_complete=require_complete
    )
    return Call(
        methods.SWITCH_SPACE,
        request,
        lambda response: SpaceSwitch(response.previous_space_id, response.awaiting_passage_count),
    )


def drop_space(workspace: str, space_id: str, leave_waiting: bool) -> CallFor[DroppedSpace]:
    """Asks for the end of a space."""
    return Call(
        methods.DROP_SPACE,
        spaces_pb2.DropSpaceRequest(
            workspace=workspace, space_id=space_id, leave_waiting=leave_waiting
        ),
        lambda response: DroppedSpace(response.vector_count),
    )


def describe_mesh() -> CallFor[MeshState]:
    """Asks for the state of the mesh."""
    return Call(methods.DESCRIBE_MESH, mesh_pb2.DescribeMeshRequest(), mesh_state_from)


def get_job(workspace: str, job_id: str) -> CallFor[Job]:
    """Asks for one job."""
    return Call(
        methods.GET_JOB,
        jobs_pb2.GetJobRequest(workspace=workspace, job_id=job_id),
        lambda response: job_from(response.job),
    )


def list_jobs(workspace: str, page_size: int, page_token: str) -> CallFor[JobPage]:
    """Asks for one page of jobs."""
    request = jobs_pb2.ListJobsRequest(
        workspace=workspace, page_size=page_size, page_token=page_token
    )
    return Call(methods.LIST_JOBS, request, job_page_from)


def cancel_job(workspace: str, job_id: str) -> CallFor[Job]:
    """Asks for a job to be stopped."""
    return Call(
        methods.CANCEL_JOB,
        jobs_pb2.CancelJobRequest(workspace=workspace, job_id=job_id),
        lambda response: job_from(response.job),
    )


def retry_job(workspace: str, job_id: str) -> CallFor[Job]:
    """Asks for what failed to be done again."""
    return Call(
        methods.RETRY_JOB,
        jobs_pb2.RetryJobRequest(workspace=workspace, job_id=job_id),
        lambda response: job_from(response.job),
    )
