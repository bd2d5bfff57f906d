"""The part of the fake gateway that answers questions."""

from collections.abc import AsyncIterator

from chassis.interception import ServicerContext
from justesse.gateway.v1 import answers_pb2, answers_pb2_grpc
from tests.fakes.fake_gateway.search import search_response
from tests.fakes.fake_gateway.state import GatewayState, fail

ANSWER_PIECES = ("Le délai est de 30 jours [1].", "\n\nVoir le barème [1].")


def answer_events(request_id: str) -> list[answers_pb2.AnswerQuestionResponse]:
    """The events of an answer in two pieces."""
    place = {
        "document_id": "returns.md",
        "title": "Procédure retours",
        "source_uri": "https://base.test/returns",
        "heading_path": ["Guide", "Retours"],
        "page": "page 3",
    }
    source = answers_pb2.AnswerSource(index=2, text="Le délai est de 30 jours.", **place)  # type: ignore[arg-type]
    citation = answers_pb2.Citation(index=1, **place)  # type: ignore[arg-type]
    response = answers_pb2.AnswerQuestionResponse
    return [
        response(sources=answers_pb2.AnswerSources(sources=[source])),
        *(response(delta=answers_pb2.AnswerDelta(text=text)) for text in ANSWER_PIECES),
        response(citations=answers_pb2.AnswerCitations(citations=[citation])),
        response(
            outcome=answers_pb2.AnswerOutcome(
                origin=answers_pb2.ANSWER_ORIGIN_MODEL,
                end=answers_pb2.ANSWER_END_TRUNCATED,
                token_usage=answers_pb2.TokenUsage(input_token_count=20, output_token_count=5),
                unknown_citation_count=1,
                removed_link_count=2,
                uncited_sentence_count=3,
                unsupported_sentence_count=5,
                cut_sentence_count=4,
                language_mismatch=True,
                receipt=search_response(request_id).receipt,
            )
        ),
    ]


class FakeAnswers(answers_pb2_grpc.AnswerServiceServicer):
    """Gives the answer of the state, or that of this module."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def AnswerQuestion(
        self, request: answers_pb2.AnswerQuestionRequest, context: ServicerContext
    ) -> AsyncIterator[answers_pb2.AnswerQuestionResponse]:
        """Breaks off after the first piece once if the state says so."""
        await self._state.enter("AnswerQuestion", context)
        await self._state.documents_of(request.search.workspace, context)
        self._state.answered.append(request)
        for event in self._state.answer_events or answer_events(self._state.request_ids[-1]):
            yield event
            if self._state.answer_breaks and event.HasField("delta"):
                await fail(context, self._state.answer_breaks.pop(0))
