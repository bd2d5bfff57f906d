"""Spaces of workspaces over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from gateway.http.event_stream import Event, event_stream
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.spaces import (
    ReembeddingBody,
    SpaceDropBody,
    SpaceSwitchBody,
    SwitchSpaceBody,
    to_event,
)
from gateway.http.responses import JsonResponse
from gateway.reembedding import ReembeddingEvent
from gateway.space_work import SpaceWork


def space_routes(work: SpaceWork) -> APIRouter:
    """Returns the routes of spaces."""
    router = APIRouter(tags=["spaces"], route_class=StrictJsonRoute)

    @router.post(
        "/v1/workspaces/{slug}/reembed",
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "server-sent events: plan, progress, verdict, outcome, error",
                "content": {"text/event-stream": {}},
            }
        },
    )
    async def reembed_workspace(slug: str, body: ReembeddingBody) -> StreamingResponse:
        """Embeds a workspace again, for as long as the caller listens."""
        return await event_stream(_named(work.reembed(body.request(slug))))

    @router.post("/v1/workspaces/{slug}/spaces/switch", response_model=SpaceSwitchBody)
    async def switch_space(slug: str, body: SwitchSpaceBody) -> JsonResponse:
        """Makes a space that the workspace holds the preferred one."""
        switch = await work.switch(slug, body.space_id, require_complete=body.require_complete)
        return JsonResponse(
            SpaceSwitchBody(
                previous_space_id=switch.previous_space_id,
                awaiting_passage_count=switch.awaiting_passage_count,
            )
        )

    @router.delete("/v1/workspaces/{slug}/spaces", response_model=SpaceDropBody)
    async def drop_space(slug: str, space_id: str, leave_waiting: bool = False) -> JsonResponse:
        """Deletes the vectors of a space that searches do not need.

        With `leave_waiting` also where the preferred space lacks passages that are in it: they wait
        then, and are found by their words.
        """
        drop = await work.drop(slug, space_id, leave_waiting=leave_waiting)
        return JsonResponse(SpaceDropBody(vector_count=drop.vector_count))

    return router


async def _named(events: AsyncGenerator[ReembeddingEvent, None]) -> AsyncGenerator[Event, None]:
    async with aclosing(events):
        async for event in events:
            yield to_event(event)
