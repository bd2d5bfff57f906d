"""The methods of the gateway that the client calls."""

from typing import Any

from justesse.client.answer_methods import ANSWER_QUESTION
from justesse.client.key_methods import CREATE_KEY, LIST_KEYS, REVOKE_KEY
from justesse.client.method import PACKAGE, Method
from justesse.client.switch_methods import (
    CLEAR_SWITCH_OVERRIDE,
    CLEAR_SWITCH_ROLLOUT,
    LIST_SWITCH_CHANGES,
    LIST_SWITCH_OVERRIDES,
    LIST_SWITCHES,
    REFRESH_SWITCHES,
    SET_SWITCH,
    SET_SWITCH_OVERRIDE,
    SET_SWITCH_ROLLOUT,
)
from justesse.client.transfer_methods import EXPORT_WORKSPACE, IMPORT_WORKSPACE
from justesse.gateway.v1 import (
    context_pb2,
    documents_pb2,
    explanations_pb2,
    glossary_pb2,
    ingestion_pb2,
    jobs_pb2,
    mesh_pb2,
    search_pb2,
    spaces_pb2,
    workspaces_pb2,
)

SEARCH_PASSAGES = Method(
    f"{PACKAGE}.SearchService",
    "SearchPassages",
    search_pb2.SearchPassagesRequest,
    search_pb2.SearchPassagesResponse,
    idempotent=True,
)
EXPLAIN_SEARCH = Method(
    f"{PACKAGE}.ExplanationService",
    "ExplainSearch",
    explanations_pb2.ExplainSearchRequest,
    explanations_pb2.ExplainSearchResponse,
    idempotent=True,
)
BUILD_CONTEXT = Method(
    f"{PACKAGE}.ContextService",
    "BuildContext",
    context_pb2.BuildContextRequest,
    context_pb2.BuildContextResponse,
    idempotent=True,
)
INGEST_DOCUMENT = Method(
    f"{PACKAGE}.IngestionService",
    "IngestDocument",
    ingestion_pb2.IngestDocumentRequest,
    ingestion_pb2.IngestDocumentResponse,
    idempotent=False,
)
SUBMIT_DOCUMENTS = Method(
    f"{PACKAGE}.JobService",
    "SubmitDocuments",
    jobs_pb2.SubmitDocumentsRequest,
    jobs_pb2.SubmitDocumentsResponse,
    idempotent=False,
)
GET_JOB = Method(
    f"{PACKAGE}.JobService",
    "GetJob",
    jobs_pb2.GetJobRequest,
    jobs_pb2.GetJobResponse,
    idempotent=True,
)
LIST_JOBS = Method(
    f"{PACKAGE}.JobService",
    "ListJobs",
    jobs_pb2.ListJobsRequest,
    jobs_pb2.ListJobsResponse,
    idempotent=True,
)
CANCEL_JOB = Method(
    f"{PACKAGE}.JobService",
    "CancelJob",
    jobs_pb2.CancelJobRequest,
    jobs_pb2.CancelJobResponse,
    idempotent=False,
)
RETRY_JOB = Method(
    f"{PACKAGE}.JobService",
    "RetryJob",
    jobs_pb2.RetryJobRequest,
    jobs_pb2.RetryJobResponse,
    idempotent=False,
)
WATCH_JOB = Method(
    f"{PACKAGE}.JobService",
    "WatchJob",
    jobs_pb2.WatchJobRequest,
    jobs_pb2.WatchJobResponse,
    idempotent=False,
)
CREATE_WORKSPACE = Method(
    f"{PACKAGE}.WorkspaceService",
    "CreateWorkspace",
    workspaces_pb2.CreateWorkspaceRequest,
    workspaces_pb2.CreateWorkspaceResponse,
    idempotent=False,
)
LIST_WORKSPACES = Method(
    f"{PACKAGE}.WorkspaceService",
    "ListWorkspaces",
    workspaces_pb2.ListWorkspacesRequest,
    workspaces_pb2.ListWorkspacesResponse,
    idempotent=True,
)
DESCRIBE_WORKSPACE = Method(
    f"{PACKAGE}.WorkspaceService",
    "DescribeWorkspace",
    workspaces_pb2.DescribeWorkspaceRequest,
    workspaces_pb2.DescribeWorkspaceResponse,
    idempotent=True,
)
UPDATE_WORKSPACE = Method(
    f"{PACKAGE}.WorkspaceService",
    "UpdateWorkspace",
    workspaces_pb2.UpdateWorkspaceRequest,
    workspaces_pb2.UpdateWorkspaceResponse,
    idempotent=False,
)
DELETE_WORKSPACE = Method(
    f"{PACKAGE}.WorkspaceService",
    "DeleteWorkspace",
    workspaces_pb2.DeleteWorkspaceRequest,
    workspaces_pb2.DeleteWorkspaceResponse,
    idempotent=False,
)
GET_DOCUMENT = Method(
    f"{PACKAGE}.DocumentService",
    "GetDocument",
    documents_pb2.GetDocumentRequest,
    documents_pb2.GetDocumentResponse,
    idempotent=True,
)
LIST_DOCUMENTS = Method(
    f"{PACKAGE}.DocumentService",
    "ListDocuments",
    documents_pb2.ListDocumentsRequest,
    documents_pb2.ListDocumentsResponse,
    idempotent=True,
)
DELETE_DOCUMENT = Method(
    f"{PACKAGE}.DocumentService",
    "DeleteDocument",
    documents_pb2.DeleteDocumentRequest,
    documents_pb2.DeleteDocumentResponse,
    idempotent=False,
)
DELETE_SOURCE = Method(
    f"{PACKAGE}.DocumentService",
    "DeleteSource",
    documents_pb2.DeleteSourceRequest,
    documents_pb2.DeleteSourceResponse,
    idempotent=False,
)
REEMBED_WORKSPACE = Method(
    f"{PACKAGE}.SpaceService",
    "ReembedWorkspace",
    spaces_pb2.ReembedWorkspaceRequest,
    spaces_pb2.ReembedWorkspaceResponse,
    idempotent=False,
)
SWITCH_SPACE = Method(
    f"{PACKAGE}.SpaceService",
    "SwitchSpace",
    spaces_pb2.SwitchSpaceRequest,
    spaces_pb2.SwitchSpaceResponse,
    idempotent=False,
)
DROP_SPACE = Method(
    f"{PACKAGE}.SpaceService",
    "DropSpace",
    spaces_pb2.DropSpaceRequest,
    spaces_pb2.DropSpaceResponse,
    idempotent=False,
)
RECHUNK_DOCUMENT = Method(
    f"{PACKAGE}.IngestionService",
    "RechunkDocument",
    ingestion_pb2.RechunkDocumentRequest,
    ingestion_pb2.RechunkDocumentResponse,
    idempotent=False,
)
DELETE_ORIGINALS = Method(
    f"{PACKAGE}.IngestionService",
    "DeleteOriginals",
    ingestion_pb2.DeleteOriginalsRequest,
    ingestion_pb2.DeleteOriginalsResponse,
    idempotent=False,
)
LIST_GLOSSARY_ENTRIES = Method(
    f"{PACKAGE}.GlossaryService",
    "ListGlossaryEntries",
    glossary_pb2.ListGlossaryEntriesRequest,
    glossary_pb2.ListGlossaryEntriesResponse,
    idempotent=True,
)
PUT_GLOSSARY_ENTRIES = Method(
    f"{PACKAGE}.GlossaryService",
    "PutGlossaryEntries",
    glossary_pb2.PutGlossaryEntriesRequest,
    glossary_pb2.PutGlossaryEntriesResponse,
    idempotent=False,
)
DELETE_GLOSSARY_ENTRIES = Method(
    f"{PACKAGE}.GlossaryService",
    "DeleteGlossaryEntries",
    glossary_pb2.DeleteGlossaryEntriesRequest,
    glossary_pb2.DeleteGlossaryEntriesResponse,
    idempotent=False,
)
DESCRIBE_MESH = Method(
    f"{PACKAGE}.MeshService",
    "DescribeMesh",
    mesh_pb2.DescribeMeshRequest,
    mesh_pb2.DescribeMeshResponse,
    idempotent=True,
)

METHODS: tuple[Method[Any, Any], ...] = (
    SEARCH_PASSAGES,
    ANSWER_QUESTION,
    EXPLAIN_SEARCH,
    BUILD_CONTEXT,
    INGEST_DOCUMENT,
    SUBMIT_DOCUMENTS,
    GET_JOB,
    LIST_JOBS,
    CANCEL_JOB,
    RETRY_JOB,
    WATCH_JOB,
    CREATE_WORKSPACE,
    LIST_WORKSPACES,
    DESCRIBE_WORKSPACE,
    UPDATE_WORKSPACE,
    DELETE_WORKSPACE,
    GET_DOCUMENT,
    LIST_DOCUMENTS,
    DELETE_DOCUMENT,
    DELETE_SOURCE,
    REEMBED_WORKSPACE,
    SWITCH_SPACE,
    DROP_SPACE,
    EXPORT_WORKSPACE,
    IMPORT_WORKSPACE,
    RECHUNK_DOCUMENT,
    DELETE_ORIGINALS,
    LIST_GLOSSARY_ENTRIES,
    PUT_GLOSSARY_ENTRIES,
    DELETE_GLOSSARY_ENTRIES,
    CREATE_KEY,
    LIST_KEYS,
    REVOKE_KEY,
    LIST_SWITCHES,
    SET_SWITCH,
    REFRESH_SWITCHES,
    LIST_SWITCH_OVERRIDES,
    SET_SWITCH_OVERRIDE,
    CLEAR_SWITCH_OVERRIDE,
    SET_SWITCH_ROLLOUT,
    CLEAR_SWITCH_ROLLOUT,
    LIST_SWITCH_CHANGES,
    DESCRIBE_MESH,
)
