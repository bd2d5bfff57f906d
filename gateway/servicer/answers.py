"""Answers over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from chassis.interception import ServicerContext
from gateway.answers.answers import Answers
from gateway.wire.answers import to_answer_response
from gateway.wire.context import wishes_from
from gateway.wire.search import question_from
from justesse.gateway.v1 import answers_pb2, answers_pb2_grpc


class AnswerServicer(answers_pb2_grpc.AnswerServiceServicer):
    """Serves justesse.gateway.v1.AnswerService."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def AnswerQuestion(
        self, request: answers_pb2.AnswerQuestionRequest, context: ServicerContext
    ) -> AsyncIterator[answers_pb2.AnswerQuestionResponse]:
        """Answers a question, for as long as the caller listens."""
        question, wishes = question_from(request.search), wishes_from(request)
        async with aclosing(self._answers.answer(question, wishes)) as events:
            async for event in events:
                yield to_answer_response(event)
