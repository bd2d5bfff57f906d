"""How keys come in, how they end, and that nothing of them is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import httpx
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from structlog.testing import capture_logs

from chassis.metrics import Metrics
from gateway.access.grants import Action
from gateway.filters import Equals
from gateway.http.app import http_door
from gateway.http.server import running_http
from justesse.gateway.v1 import jobs_pb2
from tests.fakes.gateway_services.calls import route_calls, rpcs
from tests.fakes.gateway_services.doors import Doors
from tests.fakes.gateway_services.keys import EVERYTHING_GRANT, grant
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

THERE = "negoce"


async def test_reflection_needs_a_key(doors: Doors) -> None:
    """A stream of it would be held open by anybody."""
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(doors.channel)  # type: ignore[arg-type]
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    key = doors.mesh.key_store.give(grant("elsewhere", Action.READ))

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await anext(aiter(stub.ServerReflectionInfo(iter([request]))))
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    call = stub.ServerReflectionInfo(
        iter([request]), metadata=(("authorization", f"Bearer {key.text}"),)
    )
    assert (await anext(aiter(call))).list_services_response.service


async def test_the_body_of_a_refused_request_is_not_read(doors: Doors) -> None:
    """Over HTTP; the connection is closed, so that the rest is not waited for either."""
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b"x" * 1_000_000

    key = doors.mesh.key_store.give(grant("mine", Action.ADMIN))
    for headers, path in (
        ({}, "/v1/documents"),
        ({"Authorization": f"Bearer {key.text}"}, f"/v1/workspaces/{THERE}/jobs"),
    ):
        answer = await doors.http.post(path, content=body(), headers=headers)

        assert answer.status_code in {401, 404}
        assert answer.headers["Connection"] == "close"
    assert read == 0


async def test_the_stream_of_a_refused_call_is_not_read(doors: Doors) -> None:
    """Over gRPC: a request that cannot even be parsed is refused for its key."""
    for kind in ("unary_unary", "stream_unary"):
        send = getattr(doors.channel, kind)("/justesse.gateway.v1.SearchService/SearchPassages")
        garbage = b"\xff" * 1000
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await send(garbage if kind == "unary_unary" else iter([garbage]))
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "Bearer {key}"), ("Authorization", "Bearer {key}")],
        [("Authorization", "Bearer {key}"), ("authorization", "Bearer jst_x")],
        [("X-Api-Key", "{key}")],
        [("Authorization", "Basic {key}")],
        [("Authorization", "Bearer {key}\xe9")],
        [("Authorization", "Bearer " + "x" * 100_000)],
        [("Cookie", "authorization=Bearer {key}")],
    ],
)
async def test_a_key_comes_in_one_way_only(doors: Doors, headers: list[tuple[str, str]]) -> None:
    """One header of one name; what is refused repeats nothing of it."""
    key = doors.mesh.key_store.give(EVERYTHING_GRANT)
    sent = [(name, value.format(key=key.text).encode("latin-1")) for name, value in headers]

    with capture_logs() as lines:
        answer = await doors.http.get("/v1/workspaces", headers=sent)  # type: ignore[arg-type]
        in_query = await doors.http.get(f"/v1/workspaces?api_key={key.text}&key={key.text}")

    assert answer.status_code == in_query.status_code == 401
    secret = key.text.removeprefix(key.prefix)
    assert secret not in answer.text + in_query.text + repr(lines)


async def test_a_revoked_key_ends_streams(doors: Doors) -> None:
    """A watched job, over gRPC and as server-sent events, that would go on for ever."""
    mesh = doors.mesh
    mesh.jobs.held = True
    key = mesh.key_store.give(grant(THERE, Action.WRITE))
    headers = {"Authorization": f"Bearer {key.text}"}
    (submit,) = (c for c in route_calls() if c.template.endswith("/jobs") and c.method == "POST")
    job = (await submit.call(doors.http, THERE, headers)).json()["job_id"]
    (watch,) = (each for each in rpcs() if each.method.name == "WatchJob")
    message = jobs_pb2.WatchJobRequest(workspace=THERE, job_id=job)
    watched: Any = doors.channel.unary_stream(
        watch.path, request_serializer=jobs_pb2.WatchJobRequest.SerializeToString
    )
    call = watched(message, metadata=(("authorization", f"Bearer {key.text}"),))
    assert await call.read()
    path = f"/v1/workspaces/{THERE}/jobs/{job}/events"

    async with (
        running_http(
            http_door(mesh.application(), Metrics()), "127.0.0.1", 0, insecure=False, grace_s=1
        ) as address,
        httpx.AsyncClient(base_url=f"http://{address}", trust_env=False) as live,
        live.stream("GET", path, headers=headers) as events,
    ):
        lines = events.aiter_lines()
        while not (await anext(lines)).startswith("data: "):
            continue
        mesh.key_store.end(key)
        await mesh.key_ring.refresh()

        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await call.read()
        assert ended.value.code() is grpc.StatusCode.UNAUTHENTICATED
        with pytest.raises(httpx.RemoteProtocolError):
            [line async for line in lines]
    async with asyncio.timeout(30):
        while mesh.jobs.watching:  # noqa: ASYNC110 - the fake sends no signal
            await asyncio.sleep(0.01)


async def test_keys_are_made_and_revoked_through_both_doors(doors: Doors) -> None:
    """A key that one door makes opens the other, and closes again."""
    admin = {"Authorization": f"Bearer {doors.mesh.key_store.give(EVERYTHING_GRANT).text}"}
    wanted = {
        "name": "reader",
        "grants": [
            {
                "workspace": THERE,
                "actions": ["READ"],
                "filter": {"equals": {"field": "category", "value": "orders"}},
            }
        ],
        "expire_time": "2100-01-01T00:00:00Z",
    }

    made = (await doors.http.post("/v1/keys", json=wanted, headers=admin)).json()

    metadata = (("authorization", f"Bearer {made['api_key']}"),)
    (search,) = (each for each in rpcs() if each.method.name == "SearchPassages")
    assert await search.call(doors.channel, THERE, metadata)
    assert doors.mesh.retriever.searches[-1].filter == Equals("category", "orders")
    listed = (await doors.http.get("/v1/keys", headers=admin)).json()["keys"]
    assert made["key"] in listed
    assert made["api_key"] not in repr(listed)
    path = f"/v1/keys/{made['key']['prefix']}"
    revoked = (await doors.http.delete(path, headers=admin)).json()
    assert revoked["revoke_time"]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await search.call(doors.channel, THERE, metadata)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_first_key_closes_both_doors(
    mesh: MeshOfFakes, channel: grpc.aio.Channel, http: httpx.AsyncClient
) -> None:
    """Until it is made, both are open."""
    doors = Doors(mesh, channel, http)
    (search,) = (each for each in rpcs() if each.method.name == "SearchPassages")
    assert (await doors.try_out(search, THERE, None))[0] == "OK"
    grants = [{"workspace": "*", "actions": ["admin"]}]

    made = await http.post("/v1/keys", json={"name": "first", "grants": grants})

    assert made.status_code == 201
    assert (await doors.try_out(search, THERE, None))[0] == "UNAUTHENTICATED"
