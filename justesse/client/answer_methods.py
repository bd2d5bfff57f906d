"""The methods of the gateway that answer questions."""

from justesse.client.method import PACKAGE, Method
from justesse.gateway.v1 import answers_pb2

ANSWER_QUESTION = Method(
    f"{PACKAGE}.AnswerService",
    "AnswerQuestion",
    answers_pb2.AnswerQuestionRequest,
    answers_pb2.AnswerQuestionResponse,
    idempotent=False,
)
