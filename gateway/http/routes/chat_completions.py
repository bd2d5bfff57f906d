"""Answering in the shape that OpenAI gave to chat: each workspace is a model."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.access.call_access import reads_workspace
from gateway.answers.answers import Answers
from gateway.answers.whole_answer import whole_answer
from gateway.catalogue import Catalogue
from gateway.http.chat.completions import ChatCompletion
from gateway.http.chat.request import ChatBody
from gateway.http.event_stream import line_stream
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.listening import NOBODY_LISTENS, while_listened
from gateway.http.responses import JsonResponse


def chat_routes(answers: Answers, catalogue: Catalogue) -> APIRouter:
    """Returns the routes that clients of OpenAI call."""
    router = APIRouter(tags=["answers"], route_class=StrictJsonRoute)

    @router.post("/v1/chat/completions")
    async def complete_chat(body: ChatBody, request: Request) -> Response:
        """Answers the last question of a conversation with a workspace."""
        completion = ChatCompletion(body.model)
        events = answers.answer(body.question())
        if not body.stream:
            answer = await while_listened(request, whole_answer(events))
            if answer is None:
                return Response(status_code=NOBODY_LISTENS)
            return JsonResponse(completion.whole(answer))
        options = body.stream_options
        # The sources, which a chat has no place for: what fails before them has a status.
        await anext(events)
        chunks = completion.chunks(
            events, include_usage=options is not None and options.include_usage
        )
        return line_stream(chunks)

    @router.get("/v1/models")
    async def list_models() -> JsonResponse:
        """Lists the workspaces that can be asked."""
        workspaces = await catalogue.list_workspaces()
        models = [
            {"id": each.slug, "object": "model", "created": 0, "owned_by": "justesse"}
            for each in workspaces
            if reads_workspace(each.slug)
        ]
        return JsonResponse({"object": "list", "data": models})

    return router
