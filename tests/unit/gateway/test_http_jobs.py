"""Jobs over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest

from chassis.errors import Unavailable
from chassis.metrics import Metrics
from gateway.document_jobs import DocumentJobState
from gateway.http.app import http_door
from gateway.http.job_events import job_events
from gateway.http.server import running_http
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

JOBS = "/v1/workspaces/negoce/jobs"


async def submit(
    http: httpx.AsyncClient, *names: str, query: str = "", **fields: Any
) -> httpx.Response:
    """Posts files whose content is their name."""
    files = [("file", (name, name.encode())) for name in names]
    return await http.post(JOBS + query, files=files, data=fields)


@pytest.fixture
async def live(mesh: MeshOfFakes) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a real server, which gets answers while they are being made."""
    door = http_door(mesh.application(), Metrics())
    async with (
        running_http(door, "127.0.0.1", 0, insecure=False, grace_s=1) as address,
        httpx.AsyncClient(base_url=f"http://{address}", trust_env=False) as client,
    ):
        yield client


def events_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Reads id and data of each event."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in lines:
            found.append((lines["id"], orjson.loads(lines["data"])))
    return found


async def test_files_become_a_job_that_is_found_by_its_location(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """The answer comes before the work is done; the facts hold for every file."""
    mesh.jobs.held = True

    answer = await submit(http, "a.md", "b/c.md", category="orders", metadata='{"week": 12}')

    assert answer.status_code == 202
    assert [(file.file_name, file.category, file.metadata) for file, _ in mesh.jobs.taken] == [
        ("a.md", "orders", {"week": 12.0}),
        ("b/c.md", "orders", {"week": 12.0}),
    ]
    assert [content for _, content in mesh.jobs.taken] == [b"a.md", b"b/c.md"]
    found = (await http.get(answer.headers["Location"])).json()
    assert found == answer.json()
    assert (found["state"], found["finished"], found["file_count"]) == ("QUEUED", False, 2)
    assert [file["external_id"] for file in found["files"]] == ["a.md", "b/c.md"]


async def test_who_waits_gets_what_became_of_each_file(http: httpx.AsyncClient) -> None:
    """A file that failed is in the answer with its reason, which is still 200."""
    answer = await submit(http, "a.md", "b.bad", query="?wait=true")

    assert answer.status_code == 200
    job = answer.json()
    assert (job["state"], job["state_counts"]) == ("FAILED", {"INDEXED": 1, "FAILED": 1})
    assert job["files"][0]["result"]["outcome"] == "CREATED"
    assert job["files"][1]["failure"] == {
        "status": "INVALID_ARGUMENT",
        "reason": "UNREADABLE_FILE",
        "message": "b.bad: unreadable",
    }
    assert "result" not in job["files"][1]


async def test_one_document_can_be_left_to_a_job(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """The route that waits by default does not have to."""
    mesh.jobs.held = True

    answer = await http.post(
        "/v1/documents?wait=false",
        files={"file": ("a.md", b"x")},
        data={"workspace": "negoce", "external_id": "one"},
    )

    assert answer.status_code == 202
    assert (await http.get(answer.headers["Location"])).json()["files"][0]["external_id"] == "one"
    assert mesh.ingestion.taken == []


@pytest.mark.parametrize(
    ("names", "fields", "field"),
    [
        ([], {"category": "x"}, "file"),
        (["a.md", "b.md"], {"title": "One title"}, "title"),
        (["a.md"], {"workspace": "other"}, "workspace"),
        (["a.md"], {"colour": "blue"}, "colour"),
    ],
)
async def test_a_wrong_form_names_the_field(
    http: httpx.AsyncClient,
    mesh: MeshOfFakes,
    names: list[str],
    fields: dict[str, str],
    field: str,
) -> None:
    """Nothing is handed on."""
    if names:
        answer = await submit(http, *names, **fields)
    else:
        answer = await http.post(JOBS, files={"note": ("a.md", b"x")}, data=fields)

    assert answer.status_code == 400
    assert answer.json()["error"]["field_violations"][0]["field"] == field
    assert mesh.jobs.taken == []


async def test_a_lost_role_is_told(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """As 503, like any lost service."""
    mesh.jobs.behaviour.error = Unavailable("the ingestion role cannot be reached")

    answer = await submit(http, "a.md")

    assert (answer.status_code, answer.json()["error"]["status"]) == (503, "UNAVAILABLE")


async def test_jobs_are_listed_in_pages_without_files(http: httpx.AsyncClient) -> None:
    """Newest first; the token leads to the rest."""
    ids = [(await submit(http, "a.md")).json()["job_id"] for _ in range(3)]

    first = (await http.get(f"{JOBS}?page_size=2")).json()
    second = (await http.get(f"{JOBS}?page_size=2&page_token={first['next_page_token']}")).json()

    listed = [job["job_id"] for page in (first, second) for job in page["jobs"]]
    assert listed == ids[::-1]
    assert second["next_page_token"] == ""
    assert "files" not in first["jobs"][0]


async def test_a_job_is_cancelled_and_done_again(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Each answers with the job as it stands then; what went well cannot be done again."""
    mesh.jobs.held = True
    path = (await submit(http, "a.md")).headers["Location"]

    cancelled = await http.post(f"{path}:cancel")
    again = await http.post(f"{path}:retry")
    mesh.jobs.finish(path.rsplit("/", 1)[1])
    refused = await http.post(f"{path}:retry")

    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "CANCELLED")
    assert (again.status_code, again.json()["state"]) == (200, "QUEUED")
    assert (refused.status_code, refused.json()["error"]["reason"]) == (400, "NOTHING_TO_RETRY")


@pytest.mark.parametrize("suffix", ["", ":cancel", ":retry", "/events"])
async def test_a_job_that_is_not_there_is_not_found(http: httpx.AsyncClient, suffix: str) -> None:
    """What can be no id of a job is a wrong request."""
    method = http.post if suffix.startswith(":") else http.get

    assert (await method(f"{JOBS}/{'0' * 32}{suffix}")).status_code == 404
    assert (await method(f"{JOBS}/first{suffix}")).status_code == 400


async def test_events_come_while_the_job_goes_on(
    live: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """One for each change, with its revision for an id; the last has the final state."""
    mesh.jobs.held = True
    job_id = (await submit(live, "a.md")).json()["job_id"]
    seen: list[tuple[str, str]] = []

    async with live.stream("GET", f"{JOBS}/{job_id}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                job = orjson.loads(line.removeprefix("data: "))
                seen.append((job["state"], str(job["revision"])))
                if job["state"] == "QUEUED":
                    mesh.jobs.step(job_id, DocumentJobState.EMBEDDING)
                elif not job["finished"]:
                    mesh.jobs.finish(job_id)

    assert seen == [("QUEUED", "1"), ("EMBEDDING", "2"), ("INDEXED", "3")]


async def test_a_reader_that_comes_back_misses_nothing(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """From the revision that it knows; who knows the end is told to stay away."""
    job_id = (await submit(http, "a.md")).json()["job_id"]
    path = f"{JOBS}/{job_id}/events"

    back = await http.get(path, headers={"Last-Event-ID": "1"})
    ((last_id, job),) = events_in(back.text)
    over = await http.get(path, headers={"Last-Event-ID": last_id})
    wrong = await http.get(path, headers={"Last-Event-ID": "yesterday"})

    assert mesh.jobs.watched_from == [1, int(last_id)]
    assert job["finished"]
    assert over.status_code == 204
    assert wrong.json()["error"]["field_violations"][0]["field"] == "Last-Event-ID"


async def test_a_silent_job_still_shows_that_it_is_watched(mesh: MeshOfFakes) -> None:
    """Comments keep connections open that would be closed for silence."""
    mesh.jobs.held = True

    job = await _held_job(mesh)
    answer = await job_events(mesh.jobs, "negoce", job, 0, heartbeat_s=0.01)
    chunks: list[bytes] = []
    async for chunk in answer.body_iterator:  # type: ignore[attr-defined]
        chunks.append(chunk)
        if chunk.startswith(b":") and len(chunks) > 3:
            mesh.jobs.finish(job)

    assert chunks[0].startswith(b"retry: ")
    assert sum(chunk.startswith(b":") for chunk in chunks) >= 2
    assert b'"finished":true' in chunks[-1]


async def _held_job(mesh: MeshOfFakes) -> str:
    transport = httpx.ASGITransport(http_door(mesh.application(), Metrics()))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as http:
        job_id: str = (await submit(http, "a.md")).json()["job_id"]
    return job_id


async def test_a_reader_that_leaves_ends_the_watch(
    live: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Nothing is kept for who has gone."""
    mesh.jobs.held = True
    job_id = (await submit(live, "a.md")).json()["job_id"]

    async with live.stream("GET", f"{JOBS}/{job_id}/events") as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                break
        assert mesh.jobs.watching == 1

    async with asyncio.timeout(5):
        while mesh.jobs.watching:  # noqa: ASYNC110 - the fake sends no signal
            await asyncio.sleep(0.01)
