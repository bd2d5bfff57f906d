"""Ids, deadlines, limits and headers of every HTTP request."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from chassis.metrics import Metrics
from gateway.http.app import http_door
from gateway.http.bodies import MAX_JSON_BYTES, UPLOAD_BODY_BYTES
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

SEARCH = {"workspace": "negoce", "query": "retards"}


async def test_a_request_id_is_echoed_and_used(http: httpx.AsyncClient) -> None:
    """The caller's id comes back in header and receipt."""
    answer = await http.post("/v1/search", json=SEARCH, headers={"X-Request-Id": "from-caller.1"})

    assert answer.headers["x-request-id"] == "from-caller.1"
    assert answer.json()["receipt"]["request_id"] == "from-caller.1"


@pytest.mark.parametrize("given", ["", "with blank", "x" * 65, "a/b"])
async def test_an_impossible_request_id_is_replaced(http: httpx.AsyncClient, given: str) -> None:
    """Ids that could not be logged safely are not taken over."""
    answer = await http.get("/livez", headers={"X-Request-Id": given})

    assert answer.headers["x-request-id"] not in {given, ""}


@pytest.mark.parametrize("path", ["/", "/livez", "/v1/nothing", "/v1/search", "/docs"])
async def test_every_answer_has_the_security_headers(http: httpx.AsyncClient, path: str) -> None:
    """Errors have them as well as answers."""
    answer = await http.get(path)

    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_the_stated_timeout_is_the_deadline(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Stages get shares of it."""
    await http.post("/v1/search", json=SEARCH, headers={"X-Request-Timeout-Ms": "60000"})
    await http.post("/v1/search", json=SEARCH | {"query": "autre"})

    stated, default = mesh.rewriter.behaviour.timeouts
    assert stated is not None
    assert default is not None
    assert 5 < stated <= 0.4 * 60
    assert default <= 0.4 * 5


@pytest.mark.parametrize("given", ["", "0", "-5", "1.5", "soon", "600001", "9" * 400, "١"])
async def test_an_impossible_timeout_is_refused(http: httpx.AsyncClient, given: str) -> None:
    """The header is named, and nothing is done."""
    headers = [(b"x-request-timeout-ms", given.encode())]
    answer = await http.post("/v1/search", json=SEARCH, headers=headers)

    assert answer.status_code == 400
    violation = answer.json()["error"]["field_violations"][0]
    assert violation["field"] == "X-Request-Timeout-Ms"


async def test_a_request_that_is_late_is_504(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """A service that never answers ends the request at its deadline."""
    mesh.retriever.behaviour.hangs = True

    searched = await http.post("/v1/search", json=SEARCH, headers={"X-Request-Timeout-Ms": "100"})
    listed = await http.get("/v1/workspaces", headers={"X-Request-Timeout-Ms": "50"})

    assert (searched.status_code, listed.status_code) == (504, 504)
    assert listed.json()["error"]["status"] == "DEADLINE_EXCEEDED"
    assert "50 ms" in listed.json()["error"]["message"]


async def in_parts(count: int) -> AsyncIterator[bytes]:
    """Yields so many parts of 64 kB; their total is not announced."""
    for _ in range(count):
        yield b"x" * 65_536


@pytest.mark.parametrize("path", ["/v1/search", "/v1/workspaces", "/v1/nothing"])
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_the_limit_is_413(
    http: httpx.AsyncClient, mesh: MeshOfFakes, path: str, announced: bool
) -> None:
    """Announced or not, the limit is named and the connection ends."""
    content = b"x" * (MAX_JSON_BYTES + 1) if announced else in_parts(17)
    answer = await http.post(path, content=content, headers={"content-type": "application/json"})

    error = answer.json()["error"]
    assert answer.status_code == 413
    assert (error["status"], error["reason"]) == ("RESOURCE_EXHAUSTED", "BODY_TOO_LARGE")
    assert str(MAX_JSON_BYTES) in error["message"]
    assert answer.headers["connection"] == "close"
    assert not mesh.retriever.described


@pytest.mark.parametrize("length", [str(UPLOAD_BODY_BYTES + 1), "9" * 300])
async def test_an_upload_that_announces_too_much_is_not_read(
    http: httpx.AsyncClient, length: str
) -> None:
    """The answer comes before the body."""
    parts = in_parts(1)

    answer = await http.post(
        "/v1/documents",
        content=parts,
        headers={"content-type": "multipart/form-data; boundary=x", "content-length": length},
    )

    assert answer.status_code == 413
    assert [len(part) async for part in parts] == [65_536]


async def test_a_length_that_is_no_number_is_refused(http: httpx.AsyncClient) -> None:
    """Servers refuse it earlier; the door does so too."""
    answer = await http.post("/v1/search", content=b"", headers={"content-length": "many"})

    assert answer.status_code == 400


async def test_requests_are_measured_by_route_and_status(mesh: MeshOfFakes) -> None:
    """Labels hold templates, never ids."""
    metrics = Metrics()
    transport = httpx.ASGITransport(http_door(mesh.application(), metrics))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as client:
        await client.get("/v1/documents/secret-id?workspace=negoce")
        await client.request("BREW", "/v1/search")

    text = metrics.exposition().decode()
    assert 'http_route="/v1/documents/{external_id:path}"' in text
    assert 'http_request_method="_OTHER"' in text
    assert "secret-id" not in text


async def test_the_entrance_leads_to_what_is_there(http: httpx.AsyncClient) -> None:
    """Without a key; every path that it names is served."""
    named = (await http.get("/")).json()

    assert named.pop("name") == "Justesse"
    assert len(named) == 4
    for path in named.values():
        assert (await http.get(path)).status_code in {200, 503}
