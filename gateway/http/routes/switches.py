"""Switches, overrides and rollouts over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.switches import (
    ClearedBody,
    OverrideBody,
    OverridesBody,
    RolloutBody,
    SetRolloutBody,
    SetSwitchBody,
    SwitchBody,
    SwitchChangesBody,
    SwitchesBody,
    to_changes_body,
    to_rollout_body,
    to_switch_body,
    to_switches_body,
)
from gateway.http.responses import JsonResponse
from gateway.switches.editing import SwitchEditing
from gateway.switches.switching import Switching
from gateway.switches.values import written


def switch_routes(switching: Switching, editing: SwitchEditing) -> APIRouter:
    """Returns the routes of switches for all workspaces."""
    router = APIRouter(tags=["switches"], route_class=StrictJsonRoute)

    @router.get("/v1/switches", response_model=SwitchesBody)
    async def describe_switches() -> JsonResponse:
        """Lists the values in force and where they come from."""
        return JsonResponse(to_switches_body(switching.state()))

    @router.get("/v1/switches/changes", response_model=SwitchChangesBody)
    async def list_switch_changes(page_size: int = 0, page_token: str = "") -> JsonResponse:
        """Lists who changed what, the latest first; a page has 50 changes, at most 500."""
        return JsonResponse(to_changes_body(await editing.changes(page_size, page_token)))

    @router.put("/v1/switches/{key}", response_model=SwitchBody)
    async def set_switch(key: str, body: SetSwitchBody) -> JsonResponse:
        """Writes one value to the database and refreshes."""
        return JsonResponse(to_switch_body(await editing.set(key, body.value)))

    @router.post("/v1/switches/refresh", response_model=SwitchesBody)
    async def refresh_switches() -> JsonResponse:
        """Reads the table at once, here and on every other gateway."""
        return JsonResponse(to_switches_body(await switching.refresh_everywhere()))

    @router.put("/v1/switches/{key}/rollout", response_model=RolloutBody)
    async def set_rollout(key: str, body: SetRolloutBody) -> JsonResponse:
        """Gives a switch another value for a share of the queries."""
        rollout = await editing.set_rollout(key, body.value, body.percent)
        return JsonResponse(to_rollout_body(rollout))

    @router.delete("/v1/switches/{key}/rollout", response_model=ClearedBody)
    async def clear_rollout(key: str) -> JsonResponse:
        """Ends a rollout; one that is not there is no error."""
        return JsonResponse(ClearedBody(cleared=await editing.clear_rollout(key)))

    return router


def override_routes(editing: SwitchEditing) -> APIRouter:
    """Returns the routes of switches in one workspace."""
    router = APIRouter(tags=["switches"], route_class=StrictJsonRoute)

    @router.get("/v1/workspaces/{slug}/switches", response_model=OverridesBody)
    async def list_overrides(slug: str) -> JsonResponse:
        """Lists the overrides of a workspace."""
        overrides = sorted((await editing.overrides(slug)).items())
        found = [OverrideBody(key=key, value=written(value)) for key, value in overrides]
        return JsonResponse(OverridesBody(overrides=found))

    @router.put("/v1/workspaces/{slug}/switches/{key}", response_model=OverrideBody)
    async def set_override(slug: str, key: str, body: SetSwitchBody) -> JsonResponse:
        """Gives a switch another value in one workspace."""
        value = await editing.set_override(slug, key, body.value)
        return JsonResponse(OverrideBody(key=key, value=written(value)))

    @router.delete("/v1/workspaces/{slug}/switches/{key}", response_model=ClearedBody)
    async def clear_override(slug: str, key: str) -> JsonResponse:
        """Ends an override; one that is not there is no error."""
        return JsonResponse(ClearedBody(cleared=await editing.clear_override(slug, key)))

    return router
