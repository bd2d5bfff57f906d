"""The part of the synchronous client that has questions answered."""

from abc import ABC
from collections.abc import Iterator
from typing import Unpack, cast

import grpc

from justesse.client.answer_methods import ANSWER_QUESTION
from justesse.client.answers import (
    Answer,
    AnswerEvent,
    answer_event_from,
    answer_from,
    answer_message,
)
from justesse.client.call_terms import agreed_terms
from justesse.client.contexts import ContextOptions
from justesse.client.destination import Destination
from justesse.client.failed_calls import FailedCall, error_from
from justesse.client.search_options import SearchOptions


class AnswerCalls(ABC):
    """What a client can ask in words."""

    _destination: Destination
    _channel: grpc.Channel

    def answer(
        self,
        workspace: str,
        question: str,
        wanted: ContextOptions | None = None,
        *,
        timeout: float | None = 60.0,
        request_id: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Answer:
        """Answers a question from the passages of a workspace alone, with citations.

        `wanted` and `options` are those of `build_context`. A question that the passages do not
        answer is refused: see `Answer.outcome.refusal`.
        """
        events = self.stream_answer(
            workspace, question, wanted, timeout=timeout, request_id=request_id, **options
        )
        return answer_from(events)

    def stream_answer(
        self,
        workspace: str,
        question: str,
        wanted: ContextOptions | None = None,
        *,
        timeout: float | None = 60.0,
        request_id: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Iterator[AnswerEvent]:
        """Answers as `answer` does, and yields the answer as it is written.

        First the sources, then pieces of text, then what they cite, then how it ended. Leaving off
        stops the model.
        """
        terms = agreed_terms(self._destination, timeout, request_id)
        send = self._channel.unary_stream(
            ANSWER_QUESTION.path,
            request_serializer=ANSWER_QUESTION.request_type.SerializeToString,
            response_deserializer=ANSWER_QUESTION.response_type.FromString,
        )
        message = answer_message(workspace, question, wanted or {}, options)
        call = send(message, timeout=terms.timeout, metadata=terms.metadata)
        try:
            for response in call:
                event = answer_event_from(response)
                if event is not None:
                    yield event
        except grpc.RpcError as error:
            raise error_from(cast(FailedCall, error), terms) from error
        finally:
            # Without effect on a call that has ended.
            call.cancel()
