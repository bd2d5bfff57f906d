"""Both doors over one mesh of fakes, called with and without keys."""

from __future__ import annotations

import grpc.aio
import httpx

from chassis.error_mapping import service_error_from
from gateway.access.access import CHALLENGE
from gateway.access.api_key import ApiKey
from tests.fakes.gateway_services.calls import RouteCall, Rpc
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

Call = Rpc | RouteCall
Outcome = tuple[str, str, str]
"""Status, reason and text; "OK" alone where the call was served."""


_REASONS = {"model_not_found": "WORKSPACE_NOT_FOUND"}
_STATUSES = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}


def name_of(call: Call) -> str:
    """Returns a name for messages of tests."""
    return call.path if isinstance(call, Rpc) else f"{call.method} {call.template}"


class Doors:
    """Both doors over one mesh."""

    def __init__(
        self, mesh: MeshOfFakes, channel: grpc.aio.Channel, http: httpx.AsyncClient
    ) -> None:
        self.mesh = mesh
        self.channel = channel
        self.http = http

    async def try_out(self, call: Call, workspace: str, key: ApiKey | None) -> Outcome:
        """Calls and says how it ended."""
        if isinstance(call, RouteCall):
            headers = {} if key is None else {"Authorization": f"Bearer {key.text}"}
            answer = await call.call(self.http, workspace, headers)
            if answer.status_code < 400:
                return "OK", "", ""
            if answer.status_code == 401:
                assert answer.headers["WWW-Authenticate"] == CHALLENGE
            error = answer.json()["error"]
            if "status" not in error:
                # In OpenAI's shape, where the HTTP status alone says it.
                reason = _REASONS.get(error["code"], error["code"].upper())
                return _STATUSES[answer.status_code], reason, error["message"]
            return error["status"], error["reason"], error["message"]
        metadata = () if key is None else (("authorization", f"Bearer {key.text}"),)
        try:
            await call.call(self.channel, workspace, metadata)
        except grpc.aio.AioRpcError as error:
            told = service_error_from(error)
            return error.code().name, told.reason, told.message
        return "OK", "", ""

    def work_done(self) -> int:
        """Counts what any service behind the gateway, and the keys, were asked for."""
        mesh = self.mesh
        behaviours = [
            mesh.retriever.behaviour,
            mesh.rewriter.behaviour,
            mesh.embedder.behaviour,
            mesh.reranker.behaviour,
            mesh.ingestion.behaviour,
            mesh.jobs.behaviour,
            *(health.behaviour for health in mesh.health.values()),
        ]
        return sum(len(each.timeouts) for each in behaviours) + len(mesh.reembedding.requests)
