"""Workspaces of the retriever over gRPC."""

from __future__ import annotations

from collections.abc import Iterable

import grpc

from gateway.clients.service_errors import errors_of
from gateway.wire.fusion import fusion_from, write_fusion
from gateway.wire.moments import moment_from
from gateway.workspaces import (
    DenseIndexKind,
    Space,
    Workspace,
    WorkspaceDeletion,
    WorkspaceSettings,
    WorkspaceUpdate,
)
from justesse.retriever.v1 import workspaces_pb2, workspaces_pb2_grpc

_INDEX_KINDS = {
    DenseIndexKind.AUTO: workspaces_pb2.DENSE_INDEX_KIND_AUTO,
    DenseIndexKind.FLAT: workspaces_pb2.DENSE_INDEX_KIND_FLAT,
    DenseIndexKind.HNSW: workspaces_pb2.DENSE_INDEX_KIND_HNSW,
}
_INDEX_KINDS_BY_NUMBER = {number: kind for kind, number in _INDEX_KINDS.items()}


class RetrieverWorkspaces:
    """Implements the `WorkspaceStore` port."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._workspaces = workspaces_pb2_grpc.WorkspaceServiceStub(channel)

    async def create_workspace(
        self, slug: str, settings: WorkspaceSettings, *, timeout: float | None = None
    ) -> Workspace:
        """Creates a workspace; AlreadyExists where the slug is taken."""
        request = workspaces_pb2.CreateWorkspaceRequest(
            slug=slug,
            settings=workspaces_pb2.WorkspaceSettings(
                language=settings.language,
                chunking_profile=settings.chunking_profile,
                preset=settings.preset,
                dense_index_kind=_INDEX_KINDS[settings.dense_index_kind],
                child_token_count=settings.child_token_count,
            ),
        )
        write_fusion(request.settings.fusion, settings.fusion)
        with errors_of("retriever"):
            response = await self._workspaces.CreateWorkspace(request, timeout=timeout)
        return _workspace_from(response.workspace)

    async def list_workspaces(self, *, timeout: float | None = None) -> tuple[Workspace, ...]:
        """Lists all workspaces by slug."""
        with errors_of("retriever"):
            response = await self._workspaces.ListWorkspaces(
                workspaces_pb2.ListWorkspacesRequest(), timeout=timeout
            )
        return tuple(_workspace_from(workspace) for workspace in response.workspaces)

    async def describe_workspace(self, slug: str, *, timeout: float | None = None) -> Workspace:
        """Describes one workspace; NotFound where there is none."""
        with errors_of("retriever"):
            response = await self._workspaces.DescribeWorkspace(
                workspaces_pb2.DescribeWorkspaceRequest(slug=slug), timeout=timeout
            )
        return _workspace_from(response.workspace)

    async def update_workspace(
        self, update: WorkspaceUpdate, *, timeout: float | None = None
    ) -> Workspace:
        """Changes settings of a workspace; NotFound where there is none."""
        request = workspaces_pb2.UpdateWorkspaceRequest(
            slug=update.slug,
            reset_fusion=update.reset_fusion,
            chunking_profile=update.chunking_profile,
            child_token_count=update.child_token_count,
        )
        write_fusion(request.fusion, update.fusion)
        with errors_of("retriever"):
            response = await self._workspaces.UpdateWorkspace(request, timeout=timeout)
        return _workspace_from(response.workspace)

    async def delete_workspace(
        self, slug: str, *, timeout: float | None = None
    ) -> WorkspaceDeletion:
        """Deletes a workspace with all it holds; NotFound where there is none."""
        with errors_of("retriever"):
            response = await self._workspaces.DeleteWorkspace(
                workspaces_pb2.DeleteWorkspaceRequest(slug=slug), timeout=timeout
            )
        return WorkspaceDeletion(
            response.document_count,
            response.passage_count,
            purge_within_s=response.purge_within_s,
        )


def spaces_from(messages: Iterable[workspaces_pb2.Space]) -> tuple[Space, ...]:
    """Reads spaces; an index kind this build does not know counts as auto."""
    return tuple(
        Space(
            space_id=space.space_id,
            dimension=space.dimension,
            passage_count=space.passage_count,
            active_index_kind=_index_kind_from(space.active_index_kind),
            resting=space.resting,
            stray_passage_count=space.stray_passage_count,
            canary=space.canary_vector,
        )
        for space in messages
    )


def _workspace_from(message: workspaces_pb2.Workspace) -> Workspace:
    return Workspace(
        slug=message.slug,
        settings=WorkspaceSettings(
            language=message.settings.language,
            chunking_profile=message.settings.chunking_profile,
            preset=message.settings.preset,
            dense_index_kind=_index_kind_from(message.settings.dense_index_kind),
            fusion=fusion_from(message.settings.fusion),
            child_token_count=message.settings.child_token_count,
        ),
        document_count=message.document_count,
        passage_count=message.passage_count,
        spaces=spaces_from(message.spaces),
        preferred_space_id=message.preferred_space_id,
        spaces_version=message.spaces_version,
        create_time=(
            moment_from(message.create_time, "create_time")
            if message.HasField("create_time")
            else None
        ),
        applied_seq=message.applied_seq,
    )


def _index_kind_from(number: workspaces_pb2.DenseIndexKind.ValueType) -> DenseIndexKind:
    return _INDEX_KINDS_BY_NUMBER.get(number, DenseIndexKind.AUTO)
