"""Health and the state of the mesh over HTTP."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter

from gateway.access.call_access import sees_installation
from gateway.http.models.operation import (
    EntranceBody,
    LivenessBody,
    MeshBody,
    ReadinessBody,
    to_mesh_body,
    to_service_state_body,
)
from gateway.http.responses import JsonResponse
from gateway.mesh import Mesh, ServiceHealth


def health_routes(mesh: Mesh) -> APIRouter:
    """Returns the routes of health."""
    router = APIRouter(tags=["health"])

    @router.get("/v1/status", response_model=MeshBody)
    async def describe_mesh() -> JsonResponse:
        """Asks every service for its health and says what was heard."""
        return JsonResponse(to_mesh_body(await mesh.describe()))

    @router.get("/", response_model=EntranceBody)
    async def entrance() -> JsonResponse:
        """Says what this is and where to go on; needs no key."""
        return JsonResponse(EntranceBody())

    @router.get("/livez", response_model=LivenessBody)
    async def liveness() -> JsonResponse:
        """Answers as long as the process runs."""
        return JsonResponse(LivenessBody())

    @router.get("/readyz", response_model=ReadinessBody, responses={503: {"model": ReadinessBody}})
    async def readiness() -> JsonResponse:
        """Answers 200 while the retriever can be reached, else 503; needs no key."""
        retriever = await mesh.state_of("retriever")
        if not sees_installation():
            retriever = replace(retriever, address="", detail="")
        ready = retriever.health is ServiceHealth.SERVING
        body = ReadinessBody(ready=ready, retriever=to_service_state_body(retriever))
        return JsonResponse(body, 200 if ready else 503)

    return router
