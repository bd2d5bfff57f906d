"""What the fake gateway holds, and what it saw and should do."""

import asyncio
from dataclasses import dataclass, field
from typing import NoReturn

from grpc_status import rpc_status

from chassis.error_mapping import rich_status
from chassis.errors import NotFound, ServiceError
from chassis.interception import ServicerContext
from justesse.gateway.v1 import (
    answers_pb2,
    context_pb2,
    explanations_pb2,
    glossary_pb2,
    ingestion_pb2,
    jobs_pb2,
    keys_pb2,
    mesh_pb2,
    search_pb2,
    spaces_pb2,
    switches_pb2,
    workspaces_pb2,
)

SPACE = "embedded/multilingual-e5-small@1/384/l2/e5"
UPDATE_SECONDS = 1_700_000_000


@dataclass
class TakenFile:
    """A file as the fake received it."""

    header: ingestion_pb2.IngestionHeader
    part_sizes: list[int]
    content: bytes


@dataclass
class GatewayState:
    """What the fake holds, and what it saw and should do."""

    workspaces: dict[str, dict[str, TakenFile]] = field(default_factory=dict)
    settings: dict[str, workspaces_pb2.WorkspaceSettings] = field(default_factory=dict)
    switches: dict[str, str] = field(default_factory=lambda: {"rag_reranking_enabled": "true"})
    refresh_error: str = ""
    switch_error: str = ""
    original_failure: str = ""
    awaiting_passage_count: int = 0
    """Passages without a vector, the first of each document."""
    ingestion_warnings: list[str] = field(default_factory=list)
    failures: dict[str, ServiceError] = field(default_factory=dict)
    """Errors to answer with, by method."""
    failures_once: dict[str, list[ServiceError]] = field(default_factory=dict)
    """Errors to answer the next calls with, by method."""
    request_ids: list[str] = field(default_factory=list)
    switch_overrides: dict[str, dict[str, str]] = field(default_factory=dict)
    rollouts: dict[str, switches_pb2.SwitchRollout] = field(default_factory=dict)
    searches: list[search_pb2.SearchPassagesRequest] = field(default_factory=list)
    contexts: list[context_pb2.BuildContextRequest] = field(default_factory=list)
    updates: list[workspaces_pb2.UpdateWorkspaceRequest] = field(default_factory=list)
    explanations: list[explanations_pb2.ExplainSearchRequest] = field(default_factory=list)
    answered: list[answers_pb2.AnswerQuestionRequest] = field(default_factory=list)
    answer_events: list[answers_pb2.AnswerQuestionResponse] = field(default_factory=list)
    """What answers consist of; empty: an answer in two pieces."""
    answer_breaks: list[ServiceError] = field(default_factory=list)
    """Errors to break off with after the first piece, one a call."""
    reembeddings: list[spaces_pb2.ReembedWorkspaceRequest] = field(default_factory=list)
    reembedding_events: list[spaces_pb2.ReembedWorkspaceResponse] = field(default_factory=list)
    reembedding_breaks: list[ServiceError] = field(default_factory=list)
    """Errors to break off with after the first progress, one a call."""
    switched: list[tuple[str, bool]] = field(default_factory=list)
    dropped: list[tuple[str, bool]] = field(default_factory=list)
    jobs: dict[str, jobs_pb2.Job] = field(default_factory=dict)
    job_files: dict[str, list[TakenFile]] = field(default_factory=dict)
    watch_breaks: list[ServiceError] = field(default_factory=list)
    """Errors to break off with while a job is in work, one a call."""
    archive: list[bytes] = field(default_factory=lambda: [b"archive ", b"of demo"])
    archive_breaks: list[ServiceError] = field(default_factory=list)
    """Errors to break off with after the first part, one a call."""
    imports: dict[str, bytes] = field(default_factory=dict)
    """Archives that came, by workspace."""
    glossary: dict[str, glossary_pb2.GlossaryEntry] = field(default_factory=dict)
    glossary_version: int = 0
    keys: dict[str, keys_pb2.Key] = field(default_factory=dict)
    authorizations: list[str] = field(default_factory=list)
    """What calls showed, empty for those without a key."""
    silent: bool = False
    """Whether calls are left without an answer."""
    embedder_health: mesh_pb2.ServiceHealth.ValueType = mesh_pb2.SERVICE_HEALTH_SERVING

    async def enter(self, method: str, context: ServicerContext) -> None:
        """Notes the call and ends it if the test wants `method` to fail."""
        metadata = dict(context.invocation_metadata() or ())
        self.request_ids.append(str(metadata.get("x-request-id")))
        self.authorizations.append(str(metadata.get("authorization", "")))
        if self.silent:
            await asyncio.Event().wait()
        if self.failures_once.get(method):
            await fail(context, self.failures_once[method].pop(0))
        if method in self.failures:
            await fail(context, self.failures[method])

    async def documents_of(
        self,
        slug: str,
        context: ServicerContext,
    ) -> dict[str, TakenFile]:
        """Returns the documents of a workspace or ends the call with NOT_FOUND."""
        if slug not in self.workspaces:
            message = f"there is no workspace {slug!r}"
            await fail(context, NotFound(message, reason="WORKSPACE_NOT_FOUND"))
        return self.workspaces[slug]

    def workspace(self, slug: str) -> workspaces_pb2.Workspace:
        """Encodes a workspace; every document has two passages."""
        count = len(self.workspaces[slug])
        message = workspaces_pb2.Workspace(
            slug=slug,
            settings=self.settings[slug],
            document_count=count,
            passage_count=2 * count,
            spaces=[
                workspaces_pb2.Space(
                    space_id=SPACE,
                    dimension=384,
                    passage_count=(2 - self.awaiting_passage_count) * count,
                    active_index_kind=workspaces_pb2.DENSE_INDEX_KIND_FLAT,
                )
            ],
            preferred_space_id=SPACE,
            spaces_version=1,
            applied_seq=count,
        )
        message.create_time.seconds = UPDATE_SECONDS
        return message


async def fail(context: ServicerContext, error: ServiceError) -> NoReturn:
    """Ends a call the way the services do."""
    await context.abort_with_status(rpc_status.to_status(rich_status(error)))
    raise AssertionError("a call went on after its end")
