"""Workspaces over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.catalogue import Catalogue
from gateway.wire.workspaces import (
    to_deletion,
    to_workspace,
    workspace_settings_from,
    workspace_update_from,
)
from justesse.gateway.v1 import workspaces_pb2, workspaces_pb2_grpc


class WorkspaceServicer(workspaces_pb2_grpc.WorkspaceServiceServicer):
    """Serves justesse.gateway.v1.WorkspaceService."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def CreateWorkspace(
        self, request: workspaces_pb2.CreateWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.CreateWorkspaceResponse:
        """Creates a workspace."""
        settings = workspace_settings_from(request.settings)
        workspace = await self._catalogue.create_workspace(request.slug, settings)
        return workspaces_pb2.CreateWorkspaceResponse(workspace=to_workspace(workspace))

    async def ListWorkspaces(
        self, request: workspaces_pb2.ListWorkspacesRequest, context: ServicerContext
    ) -> workspaces_pb2.ListWorkspacesResponse:
        """Lists all workspaces by slug."""
        workspaces = await self._catalogue.list_workspaces()
        return workspaces_pb2.ListWorkspacesResponse(workspaces=map(to_workspace, workspaces))

    async def DescribeWorkspace(
        self, request: workspaces_pb2.DescribeWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.DescribeWorkspaceResponse:
        """Describes one workspace with its spaces and counts."""
        workspace = await self._catalogue.describe_workspace(request.slug)
        return workspaces_pb2.DescribeWorkspaceResponse(workspace=to_workspace(workspace))

    async def UpdateWorkspace(
        self, request: workspaces_pb2.UpdateWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.UpdateWorkspaceResponse:
        """Changes settings of a workspace."""
        workspace = await self._catalogue.update_workspace(workspace_update_from(request))
        return workspaces_pb2.UpdateWorkspaceResponse(workspace=to_workspace(workspace))

    async def DeleteWorkspace(
        self, request: workspaces_pb2.DeleteWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.DeleteWorkspaceResponse:
        """Deletes a workspace with all it holds."""
        deletion = await self._catalogue.delete_workspace(request.slug)
        return to_deletion(deletion)
