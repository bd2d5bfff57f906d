"""Switches, health and the state of the mesh over HTTP."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter

from gateway.access.call_access import sees_installation
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.operation import (
    LivenessBody,
    MeshBody,
    ReadinessBody,
    SetSwitchBody,
    SwitchBody,
    SwitchesBody,
    to_mesh_body,
    to_service_state_body,
    to_switch_body,
    to_switches_body,
)
from gateway.http.responses import JsonResponse
from gateway.mesh import Mesh, ServiceHealth
from gateway.switches.board import SwitchBoard


def switch_routes(switches: SwitchBoard) -> APIRouter:
    """Returns the routes of switches."""
    router = APIRouter(tags=["switches"], route_class=StrictJsonRoute)

    @router.get("/v1/switches", response_model=SwitchesBody)
    async def list_switches() -> JsonResponse:
        """Lists the values in force and where they come from."""
        return JsonResponse(to_switches_body(switches.state()))

    @router.put("/v1/switches/{key}", response_model=SwitchBody)
    async def set_switch(key: str, body: SetSwitchBody) -> JsonResponse:
        """Writes one value to the database and refreshes."""
        return JsonResponse(to_switch_body(await switches.set(key, body.value)))

    @router.post("/v1/switches/refresh", response_model=SwitchesBody)
    async def refresh_switches() -> JsonResponse:
        """Reads the table at once instead of at the next refresh."""
        return JsonResponse(to_switches_body(await switches.refresh()))

    return router


def health_routes(mesh: Mesh) -> APIRouter:
    """Returns the routes of health."""
    router = APIRouter(tags=["health"])

    @router.get("/v1/status", response_model=MeshBody)
    async def describe_mesh() -> JsonResponse:
        """Asks every service for its health and says what was heard."""
        return JsonResponse(to_mesh_body(await mesh.describe()))

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
