"""Workspaces over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.catalogue import Catalogue
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.workspaces import (
    CreateWorkspaceBody,
    UpdateWorkspaceBody,
    WorkspaceBody,
    WorkspaceDeletionBody,
    WorkspacesBody,
    to_workspace_body,
    to_workspace_deletion_body,
)
from gateway.http.responses import JsonResponse


def workspace_routes(catalogue: Catalogue) -> APIRouter:
    """Returns the routes of workspaces."""
    router = APIRouter(tags=["workspaces"], route_class=StrictJsonRoute)

    @router.get("/v1/workspaces", response_model=WorkspacesBody)
    async def list_workspaces() -> JsonResponse:
        """Lists all workspaces by slug."""
        workspaces = await catalogue.list_workspaces()
        return JsonResponse(
            WorkspacesBody(workspaces=[to_workspace_body(each) for each in workspaces])
        )

    @router.post("/v1/workspaces", response_model=WorkspaceBody, status_code=201)
    async def create_workspace(body: CreateWorkspaceBody) -> JsonResponse:
        """Creates a workspace."""
        workspace = await catalogue.create_workspace(body.slug, body.settings.settings())
        return JsonResponse(to_workspace_body(workspace), 201)

    @router.get("/v1/workspaces/{slug}", response_model=WorkspaceBody)
    async def describe_workspace(slug: str) -> JsonResponse:
        """Describes one workspace with its spaces and counts."""
        return JsonResponse(to_workspace_body(await catalogue.describe_workspace(slug)))

    @router.patch("/v1/workspaces/{slug}", response_model=WorkspaceBody)
    async def update_workspace(slug: str, body: UpdateWorkspaceBody) -> JsonResponse:
        """Changes settings of a workspace; what is absent stays as it is."""
        return JsonResponse(to_workspace_body(await catalogue.update_workspace(body.update(slug))))

    @router.delete("/v1/workspaces/{slug}", response_model=WorkspaceDeletionBody)
    async def delete_workspace(slug: str) -> JsonResponse:
        """Deletes a workspace with all it holds."""
        return JsonResponse(to_workspace_deletion_body(await catalogue.delete_workspace(slug)))

    return router
