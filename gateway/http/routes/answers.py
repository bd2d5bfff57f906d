"""Answering over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gateway.answers.answers import Answers
from gateway.answers.events import AnswerEvent
from gateway.answers.whole_answer import whole_answer
from gateway.http.event_stream import Event, event_stream
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.listening import NOBODY_LISTENS, while_listened
from gateway.http.models.answers import (
    AnswerBody,
    WholeAnswerBody,
    to_event,
    to_whole_answer_body,
    whole_answer_json,
)
from gateway.http.responses import JsonResponse

EVENTS = "text/event-stream"


def answer_routes(answers: Answers) -> APIRouter:
    """Returns the route of answering."""
    router = APIRouter(tags=["answers"], route_class=StrictJsonRoute)

    @router.post(
        "/v1/answer",
        response_model=WholeAnswerBody,
        responses={
            200: {
                "description": "an answer; as server-sent events: sources, delta, citations, "
                "outcome, error",
                "content": {EVENTS: {}},
            }
        },
    )
    async def answer_question(body: AnswerBody, request: Request) -> Response:
        """Answers a question from the passages that are found for it, with citations."""
        events = answers.answer(body.question(), body.wishes())
        if body.stream or EVENTS in request.headers.get("accept", ""):
            return await event_stream(_named(events))
        answer = await while_listened(request, whole_answer(events))
        if answer is None:
            return Response(status_code=NOBODY_LISTENS)
        return JsonResponse(whole_answer_json(to_whole_answer_body(answer)))

    return router


async def _named(events: AsyncGenerator[AnswerEvent, None]) -> AsyncGenerator[Event, None]:
    async with aclosing(events):
        async for event in events:
            yield to_event(event)
