"""Serves WorkspaceService."""

import grpc.aio

from justesse.retriever.v1 import workspaces_pb2, workspaces_pb2_grpc
from retriever_svc.engine import RetrievalEngine
from retriever_svc.transfers.imports import is_aside
from retriever_svc.wire.workspaces import (
    new_slug_from,
    settings_from,
    update_from,
    workspace_message,
    workspace_removal_response,
)


class WorkspaceServicer(workspaces_pb2_grpc.WorkspaceServiceServicer):
    """Manages workspaces through the engine."""

    def __init__(self, engine: RetrievalEngine) -> None:
        self._engine = engine

    async def CreateWorkspace(
        self,
        request: workspaces_pb2.CreateWorkspaceRequest,
        context: grpc.aio.ServicerContext[
            workspaces_pb2.CreateWorkspaceRequest, workspaces_pb2.CreateWorkspaceResponse
        ],
    ) -> workspaces_pb2.CreateWorkspaceResponse:
        slug, settings = new_slug_from(request), settings_from(request)
        workspace = await self._engine.create_workspace(slug, settings)
        return workspaces_pb2.CreateWorkspaceResponse(workspace=workspace_message(workspace))

    async def ListWorkspaces(
        self,
        request: workspaces_pb2.ListWorkspacesRequest,
        context: grpc.aio.ServicerContext[
            workspaces_pb2.ListWorkspacesRequest, workspaces_pb2.ListWorkspacesResponse
        ],
    ) -> workspaces_pb2.ListWorkspacesResponse:
        workspaces = await self._engine.list_workspaces()
        messages = [workspace_message(one) for one in workspaces if not is_aside(one.slug)]
        return workspaces_pb2.ListWorkspacesResponse(workspaces=messages)

    async def DescribeWorkspace(
        self,
        request: workspaces_pb2.DescribeWorkspaceRequest,
        context: grpc.aio.ServicerContext[
            workspaces_pb2.DescribeWorkspaceRequest, workspaces_pb2.DescribeWorkspaceResponse
        ],
    ) -> workspaces_pb2.DescribeWorkspaceResponse:
        workspace = await self._engine.describe_workspace(request.slug)
        return workspaces_pb2.DescribeWorkspaceResponse(workspace=workspace_message(workspace))

    async def UpdateWorkspace(
        self,
        request: workspaces_pb2.UpdateWorkspaceRequest,
        context: grpc.aio.ServicerContext[
            workspaces_pb2.UpdateWorkspaceRequest, workspaces_pb2.UpdateWorkspaceResponse
        ],
    ) -> workspaces_pb2.UpdateWorkspaceResponse:
        update = update_from(request)
        workspace = await self._engine.update_workspace(update)
        return workspaces_pb2.UpdateWorkspaceResponse(workspace=workspace_message(workspace))

    async def DeleteWorkspace(
        self,
        request: workspaces_pb2.DeleteWorkspaceRequest,
        context: grpc.aio.ServicerContext[
            workspaces_pb2.DeleteWorkspaceRequest, workspaces_pb2.DeleteWorkspaceResponse
        ],
    ) -> workspaces_pb2.DeleteWorkspaceResponse:
        removal = await self._engine.delete_workspace(request.slug)
        return workspace_removal_response(removal)
