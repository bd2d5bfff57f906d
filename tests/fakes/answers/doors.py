"""Every door to an answer, and what is heard behind each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc.aio
import httpx
import orjson

from chassis.metrics import Metrics
from gateway.http.app import http_door
from gateway.http.server import running_http
from justesse.gateway.v1 import answers_pb2, answers_pb2_grpc, search_pb2
from tests.fakes.answers.tile_trade import QUESTION
from tests.fakes.gateway_services.grpc_door import grpc_door
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

WORKSPACE = "negoce"
DOORS = ("grpc", "json", "sse", "chat", "chat-stream")
_STAGE = "STAGE_OUTCOME_"


@dataclass
class Heard:
    """An answer as somebody heard it, whatever the door; equal where it says the same."""

    deltas: list[str] = field(default_factory=list, compare=False)
    text: str = ""
    cited: list[tuple[int, str]] = field(default_factory=list)
    refusal: str = ""
    origin: str = ""
    end: str = ""
    tokens: tuple[int, int] = (0, 0)
    stage: tuple[str, str] = ("", "")
    unknown_citation_count: int = 0
    removed_link_count: int = 0
    language_mismatch: bool = False
    kinds: list[str] = field(default_factory=list, compare=False)


class AnswerDoors:
    """Asks through each door."""

    def __init__(self, channel: grpc.aio.Channel, http: httpx.AsyncClient) -> None:
        self.channel = channel
        self.http = http

    async def ask(self, door: str, question: str = QUESTION) -> Heard:
        """Asks one question and hears the answer to its end."""
        through = {
            "grpc": self._over_grpc,
            "json": self._over_json,
            "sse": self._over_events,
            "chat": self._over_chat,
            "chat-stream": self._over_chunks,
        }
        heard = await through[door](question)
        heard.text = "".join(heard.deltas)
        return heard

    async def ask_everywhere(self, question: str = QUESTION, *, at_once: bool = True) -> Heard:
        """Asks at each door, and returns what was heard: the same behind all of them."""
        if at_once:
            heard = await asyncio.gather(*(self.ask(door, question) for door in DOORS))
        else:
            heard = [await self.ask(door, question) for door in DOORS]
        for door, other in zip(DOORS, heard, strict=True):
            assert other == heard[0], f"{door} says something else than {DOORS[0]}"
        return heard[0]

    async def _over_grpc(self, question: str) -> Heard:
        heard = Heard()
        stub = answers_pb2_grpc.AnswerServiceStub(self.channel)
        search = search_pb2.SearchPassagesRequest(workspace=WORKSPACE, query=question)
        async for response in stub.AnswerQuestion(answers_pb2.AnswerQuestionRequest(search=search)):
            kind = response.WhichOneof("event")
            heard.kinds.append(str(kind))
            if kind == "delta":
                heard.deltas.append(response.delta.text)
            elif kind == "citations":
                cited = response.citations.citations
                heard.cited = [(each.index, each.document_id) for each in cited]
            elif kind == "outcome":
                _read_message(heard, response.outcome)
        return heard

    async def _over_json(self, question: str) -> Heard:
        answer = await self._post("/v1/answer", {"workspace": WORKSPACE, "query": question})
        body = answer.json()
        assert list(body) == ["answer", "citations", "token_usage", "refusal", "receipt"]
        heard = Heard([body["answer"]], cited=_cited(body))
        _read_json(heard, body)
        return heard

    async def _over_events(self, question: str) -> Heard:
        body = {"workspace": WORKSPACE, "query": question, "stream": True}
        heard = Heard()
        for event in (await self._post("/v1/answer", body)).text.strip().split("\n\n"):
            name, data = (line.partition(": ")[2] for line in event.split("\n"))
            value = orjson.loads(data)
            heard.kinds.append(name)
            if name == "delta":
                heard.deltas.append(value["text"])
            elif name == "citations":
                heard.cited = _cited(value)
            elif name == "outcome":
                _read_json(heard, value)
        return heard

    async def _over_chat(self, question: str) -> Heard:
        answer = (await self._post("/v1/chat/completions", _conversation(question))).json()
        (choice,) = answer["choices"]
        heard = Heard([choice["message"]["content"]], cited=_cited(answer))
        _read_chat(heard, answer, choice)
        return heard

    async def _over_chunks(self, question: str) -> Heard:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        body = _conversation(question, **options)
        heard = Heard()
        *events, done = (await self._post("/v1/chat/completions", body)).text.strip().split("\n\n")
        assert done == "data: [DONE]"
        chunks = [orjson.loads(event.removeprefix("data: ")) for event in events]
        assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
        assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        for chunk in chunks[1:-2]:
            heard.deltas.append(chunk["choices"][0]["delta"]["content"])
        *_, last, usage = chunks
        heard.cited = _cited(last)
        _read_chat(heard, {**last, "usage": usage["usage"]}, last["choices"][0])
        return heard

    async def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        answer = await self.http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer


@asynccontextmanager
async def answer_doors(mesh: MeshOfFakes) -> AsyncIterator[AnswerDoors]:
    """Opens both doors over a mesh, the HTTP one on a socket."""
    async with AsyncExitStack() as stack:
        channel = await stack.enter_async_context(grpc_door(mesh))
        door = http_door(mesh.application(), Metrics())
        address = await stack.enter_async_context(
            running_http(door, "127.0.0.1", 0, insecure=True, grace_s=1.0)
        )
        http = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://{address}", timeout=60)
        )
        yield AnswerDoors(channel, http)


def _conversation(question: str, **options: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": question}]
    return {"model": WORKSPACE, "messages": messages, "temperature": 1.7, **options}


def _cited(body: dict[str, Any]) -> list[tuple[int, str]]:
    return [(each["index"], each["document_id"]) for each in body["citations"]]


def _read_json(heard: Heard, body: dict[str, Any]) -> None:
    heard.refusal = (body.get("refusal") or {}).get("reason", "")
    usage = body["token_usage"]
    heard.tokens = usage["input_token_count"], usage["output_token_count"]
    _read_receipt(heard, body["receipt"])


def _read_chat(heard: Heard, body: dict[str, Any], choice: dict[str, Any]) -> None:
    heard.refusal = (body["refusal"] or {}).get("reason", "")
    usage = body["usage"]
    heard.tokens = usage["prompt_tokens"], usage["completion_tokens"]
    assert usage["total_tokens"] == sum(heard.tokens)
    _read_receipt(heard, body["receipt"])
    assert choice["finish_reason"] == ("stop" if heard.end == "COMPLETE" else "length")


def _read_receipt(heard: Heard, receipt: dict[str, Any]) -> None:
    heard.origin, heard.end = receipt["origin"], receipt["end"]
    heard.unknown_citation_count = receipt["unknown_citation_count"]
    heard.removed_link_count = receipt["removed_link_count"]
    heard.language_mismatch = receipt["language_mismatch"]
    (stage,) = [stage for stage in receipt["stages"] if stage["stage"] == "answer"]
    heard.stage = stage["outcome"], stage["reason"]


def _read_message(heard: Heard, outcome: answers_pb2.AnswerOutcome) -> None:
    heard.refusal = outcome.refusal.reason
    heard.origin = answers_pb2.AnswerOrigin.Name(outcome.origin).removeprefix("ANSWER_ORIGIN_")
    heard.end = answers_pb2.AnswerEnd.Name(outcome.end).removeprefix("ANSWER_END_")
    usage = outcome.token_usage
    heard.tokens = usage.input_token_count, usage.output_token_count
    heard.unknown_citation_count = outcome.unknown_citation_count
    heard.removed_link_count = outcome.removed_link_count
    heard.language_mismatch = outcome.language_mismatch
    (stage,) = [stage for stage in outcome.receipt.stages if stage.stage == "answer"]
    name = search_pb2.StageOutcome.Name(stage.outcome)
    heard.stage = name.removeprefix(_STAGE), stage.reason
