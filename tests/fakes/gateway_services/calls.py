"""One call of every RPC and every route, for a workspace that is named."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc.aio
import httpx
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

import justesse.gateway.v1 as contract
from gateway.access.needs import ROUTE_NEEDS, RPC_NEEDS, Need, Reach
from justesse.gateway.v1 import transfers_pb2
from tests.fakes.gateway_services.transfers import archive_of

JOB = "0" * 32
_FIELDS: dict[str, Any] = {
    "query": "retards",
    "external_id": "a.md",
    "file_name": "n.md",
    "job_id": JOB,
    "space_id": "s",
    "source_uri": "file:///a",
    "terms": ["BL"],
    "page_size": 1,
}
_BODIES: dict[str, Any] = {
    "/v1/search": {"query": "retards"},
    "/v1/context": {"query": "retards"},
    "/v1/explain": {"query": "retards", "external_id": "a.md"},
    "/v1/answer": {"query": "retards"},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "retards"}]},
    "/v1/workspaces": {},
    "/v1/workspaces/{slug}": {"chunking_profile": "structure"},
    "/v1/workspaces/{slug}/spaces/switch": {"space_id": "s"},
    "/v1/workspaces/{slug}/glossary": {"entries": [{"term": "BL", "synonyms": ["bon"]}]},
    "/v1/keys": {"name": "n", "grants": [{"workspace": "*", "actions": ["admin"]}]},
    "/v1/switches/{key}": {"value": "true"},
}


_WORKSPACE_FIELDS = {"/v1/workspaces": "slug", "/v1/chat/completions": "model"}


@dataclass(frozen=True)
class Rpc:
    """A method of the contract and what it needs."""

    method: MethodDescriptor
    need: Need

    @property
    def path(self) -> str:
        """What the method is called by."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"

    def request(self, workspace: str) -> Message:
        """Returns a sound request about a workspace."""
        message = message_factory.GetMessageClass(self.method.input_type)()
        _fill(message)
        if self.need.reach is Reach.WORKSPACE:
            parent, _, name = self.need.place.rpartition(".")
            target = getattr(message, parent) if parent else message
            _fill(target)
            setattr(target, name, workspace)
        return message

    async def call(
        self, channel: grpc.aio.Channel, workspace: str, metadata: tuple[tuple[str, str], ...] = ()
    ) -> list[Message]:
        """Calls it with one message and returns the answers, two of a stream at most."""
        request = self.request(workspace)
        answer_class = message_factory.GetMessageClass(self.method.output_type)
        streams = self.method.client_streaming, self.method.server_streaming
        kind = f"{'stream' if streams[0] else 'unary'}_{'stream' if streams[1] else 'unary'}"
        call = getattr(channel, kind)(
            self.path,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer_class.FromString,
        )
        sent = iter([request, *self._following()]) if streams[0] else request
        running = call(sent, metadata=metadata, timeout=30)
        if not streams[1]:
            return [await running]
        answers = []
        async for answer in running:
            answers.append(answer)
            if len(answers) == 2:
                running.cancel()
                break
        return answers

    def _following(self) -> list[Message]:
        """Returns what must follow the first message of a stream."""
        if self.method.name != "ImportWorkspace":
            return []
        return [transfers_pb2.ImportWorkspaceRequest(content=b"".join(archive_of()))]


def rpcs() -> list[Rpc]:
    """Returns every method of the gateway's contract."""
    found = []
    for file in sorted(Path(contract.__path__[0]).glob("*_pb2.py")):
        module = importlib.import_module(f"justesse.gateway.v1.{file.stem}")
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                need = RPC_NEEDS[f"{service.full_name}/{method.name}"]
                found.append(Rpc(method, need))
    return found


@dataclass(frozen=True)
class RouteCall:
    """A route and what it needs."""

    method: str
    template: str
    need: Need

    async def call(
        self, client: httpx.AsyncClient, workspace: str, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Sends a sound request about a workspace."""
        path = (
            self.template.replace("{slug}", workspace)
            .replace("{job_id}", JOB)
            .replace("{external_id:path}", "a.md")
            .replace("{prefix}", "jst_000000000000")
            .replace("{key}", "rag_reranking_enabled")
            .replace("{path:path}", "nothing")
        )
        params = {"external_id": "a.md", "source_uri": "f", "space_id": "s", "term": "BL"}
        if self.need.place.startswith("query"):
            params["workspace"] = workspace
        body: dict[str, Any] = {}
        if self.method == "POST" and self.template.endswith(("/documents", "/jobs")):
            body["files"] = [("file", ("n.md", b"text"))]
            body["data"] = {"workspace": workspace}
        elif self.template.endswith("/import"):
            body["content"] = b"".join(archive_of())
        elif self.method in {"POST", "PUT", "PATCH"}:
            body["json"] = sound_body(self, workspace)
        return await client.request(
            self.method, path, params=params, headers=headers, timeout=30, **body
        )


def sound_body(route: RouteCall, workspace: str) -> dict[str, Any]:
    """Returns a body that a route takes, about a workspace."""
    content = dict(_BODIES.get(route.template, {}))
    if route.need.place == "body":
        content[_WORKSPACE_FIELDS.get(route.template, "workspace")] = workspace
    return content


def route_calls() -> list[RouteCall]:
    """Returns every route of the table."""
    return [RouteCall(method, path, need) for (method, path), need in ROUTE_NEEDS.items()]


def of_reach(*reaches: Reach) -> Iterator[Rpc | RouteCall]:
    """Yields the RPCs and routes whose need has one of these reaches."""
    calls: list[Rpc | RouteCall] = [*rpcs(), *route_calls()]
    yield from (each for each in calls if each.need.reach in reaches)


def _fill(message: Any) -> None:
    for field in message.DESCRIPTOR.fields:
        if field.name in _FIELDS:
            value = _FIELDS[field.name]
            if field.is_repeated:
                getattr(message, field.name).extend(value)
            else:
                setattr(message, field.name, value)
