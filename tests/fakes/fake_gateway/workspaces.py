"""The part of the fake gateway that keeps workspaces."""

from chassis.errors import AlreadyExists
from chassis.interception import ServicerContext
from justesse.gateway.v1 import workspaces_pb2, workspaces_pb2_grpc
from tests.fakes.fake_gateway.state import GatewayState, fail


class FakeWorkspaces(workspaces_pb2_grpc.WorkspaceServiceServicer):
    """Keeps workspaces in memory."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def CreateWorkspace(
        self, request: workspaces_pb2.CreateWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.CreateWorkspaceResponse:
        """Refuses a slug that exists."""
        await self._state.enter("CreateWorkspace", context)
        if request.slug in self._state.workspaces:
            await fail(context, AlreadyExists(f"the workspace {request.slug!r} exists already"))
        self._state.workspaces[request.slug] = {}
        self._state.settings[request.slug] = request.settings
        return workspaces_pb2.CreateWorkspaceResponse(workspace=self._state.workspace(request.slug))

    async def ListWorkspaces(
        self, request: workspaces_pb2.ListWorkspacesRequest, context: ServicerContext
    ) -> workspaces_pb2.ListWorkspacesResponse:
        """Lists by slug."""
        await self._state.enter("ListWorkspaces", context)
        workspaces = [self._state.workspace(slug) for slug in sorted(self._state.workspaces)]
        return workspaces_pb2.ListWorkspacesResponse(workspaces=workspaces)

    async def DescribeWorkspace(
        self, request: workspaces_pb2.DescribeWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.DescribeWorkspaceResponse:
        """Describes one."""
        await self._state.enter("DescribeWorkspace", context)
        await self._state.documents_of(request.slug, context)
        workspace = self._state.workspace(request.slug)
        return workspaces_pb2.DescribeWorkspaceResponse(workspace=workspace)

    async def UpdateWorkspace(
        self, request: workspaces_pb2.UpdateWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.UpdateWorkspaceResponse:
        """Takes the fusion over as it is given."""
        await self._state.enter("UpdateWorkspace", context)
        await self._state.documents_of(request.slug, context)
        settings = self._state.settings.setdefault(
            request.slug, workspaces_pb2.WorkspaceSettings(language="fr")
        )
        settings.fusion.CopyFrom(request.fusion)
        if request.HasField("chunking_profile"):
            settings.chunking_profile = request.chunking_profile
        if request.HasField("child_token_count"):
            settings.child_token_count = request.child_token_count
        self._state.updates.append(request)
        workspace = self._state.workspace(request.slug)
        return workspaces_pb2.UpdateWorkspaceResponse(workspace=workspace)

    async def DeleteWorkspace(
        self, request: workspaces_pb2.DeleteWorkspaceRequest, context: ServicerContext
    ) -> workspaces_pb2.DeleteWorkspaceResponse:
        """Deletes one."""
        await self._state.enter("DeleteWorkspace", context)
        count = len(await self._state.documents_of(request.slug, context))
        del self._state.workspaces[request.slug]
        return workspaces_pb2.DeleteWorkspaceResponse(
            document_count=count, passage_count=2 * count, purge_within_s=3_600
        )
