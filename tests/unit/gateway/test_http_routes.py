"""Workspaces, documents, switches and health over HTTP."""

from __future__ import annotations

import re

import httpx
import pytest

from chassis.errors import Unavailable
from gateway.access.needs import ROUTE_NEEDS
from gateway.documents import Document, StoredDocument
from tests.fakes.gateway_services.mesh_of_fakes import SERVICE_NAMES, MeshOfFakes
from tests.fakes.gateway_services.spaces import SPACE
from tests.fakes.gateway_services.switch_database import RERANKING


async def test_a_workspace_is_created_listed_described_and_deleted(
    http: httpx.AsyncClient,
) -> None:
    """The whole life of a workspace, with its settings."""
    settings = {"language": "en", "dense_index_kind": "flat"}
    created = await http.post("/v1/workspaces", json={"slug": "export", "settings": settings})
    listed = await http.get("/v1/workspaces")
    described = await http.get("/v1/workspaces/export")
    deleted = await http.delete("/v1/workspaces/export")
    gone = await http.get("/v1/workspaces/export")

    assert created.status_code == 201
    assert created.json()["settings"]["language"] == "en"
    assert created.json()["settings"]["dense_index_kind"] == "FLAT"
    assert [each["slug"] for each in listed.json()["workspaces"]] == ["export", "negoce"]
    assert described.json() == created.json()
    assert deleted.json() == {
        "document_count": 0,
        "passage_count": 3,
        "original_count": 1,
        "original_failure": "",
        "purge_within_s": 3_600,
    }
    assert (gone.status_code, gone.json()["error"]["reason"]) == (404, "WORKSPACE_NOT_FOUND")


async def test_a_workspace_tells_its_spaces(http: httpx.AsyncClient) -> None:
    """Spaces come with width, count and the index that answers."""
    described = await http.get("/v1/workspaces/negoce")

    assert described.json()["spaces"] == [
        {
            "space_id": SPACE.space_id,
            "dimension": 4,
            "passage_count": 3,
            "active_index_kind": "FLAT",
            "resting": False,
            "stray_passage_count": 0,
        }
    ]
    assert described.json()["preferred_space_id"] == SPACE.space_id


@pytest.mark.parametrize("slug", ["", "Majuscule", "-a", "a" * 64, "a b", "é", "../a"])
async def test_an_impossible_slug_is_refused(http: httpx.AsyncClient, slug: str) -> None:
    """The message says what a slug looks like."""
    answer = await http.post("/v1/workspaces", json={"slug": slug})

    assert answer.status_code == 400
    assert answer.json()["error"]["field_violations"][0]["field"] == "slug"


async def test_a_deleted_workspace_is_forgotten(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """Spaces and query vectors are asked for again; the deletion asks once, too."""
    body = {"workspace": "negoce", "query": "retards"}
    await http.post("/v1/search", json=body)
    await http.delete("/v1/workspaces/negoce")
    mesh.retriever.add_workspace("negoce")

    await http.post("/v1/search", json=body)

    assert len(mesh.embedder.calls) == 2
    assert mesh.retriever.described == ["negoce"] * 3


@pytest.mark.parametrize("external_id", ["a.md", "b/c d.md", "é.md"])
async def test_a_document_is_read_by_any_id(http: httpx.AsyncClient, external_id: str) -> None:
    """Ids with slashes, blanks and accents are paths like any other."""
    path = httpx.URL(
        "http://gateway.test/v1/documents/" + external_id, params={"workspace": "negoce"}
    )
    answer = await http.get(path)

    body = answer.json()
    assert answer.status_code == 200
    assert body["document"]["external_id"] == external_id
    assert body["document"]["metadata"] == {"week": 12.0}
    assert [passage["text"] for passage in body["passages"]] == ["Premier.", "Second."]
    assert body["passages"][0]["space_ids"] == [SPACE.space_id]
    assert [one["sliced_space_ids"] for one in body["passages"]] == [[], [SPACE.space_id]]
    assert [one["cuts_token"] for one in body["passages"]] == [False, True]


async def test_documents_are_listed_in_pages(http: httpx.AsyncClient) -> None:
    """The token of one page leads to the next; the last has none."""
    first = await http.get("/v1/documents", params={"workspace": "negoce", "page_size": 2})
    token = first.json()["next_page_token"]
    second = await http.get(
        "/v1/documents", params={"workspace": "negoce", "page_size": 2, "page_token": token}
    )

    assert [each["external_id"] for each in first.json()["documents"]] == ["a.md", "b/c d.md"]
    assert [each["external_id"] for each in second.json()["documents"]] == ["é.md"]
    assert first.json()["total_count"] == 3
    assert second.json()["next_page_token"] == ""


async def test_deleting_says_whether_there_was_something(http: httpx.AsyncClient) -> None:
    """The second time nothing is deleted, and that is no error."""
    where = {"workspace": "negoce"}
    first = await http.delete("/v1/documents/a.md", params=where)
    second = await http.delete("/v1/documents/a.md", params=where)

    kept = {"original_count": 1, "original_failure": "", "purge_within_s": 3_600}
    assert first.json() == {"deleted": True, "passage_count": 2, **kept}
    assert second.status_code == 200
    assert second.json() == {"deleted": False, "passage_count": 0, **kept}


async def test_a_document_is_cut_anew(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """The answer is that of an upload; its name is checked first."""
    where = {"workspace": "negoce", "external_id": "b/c d.md"}
    answer = await http.post("/v1/documents/rechunk", params=where)
    unnamed = await http.post("/v1/documents/rechunk", params={**where, "external_id": ""})

    assert (answer.json()["outcome"], answer.json()["passage_count"]) == ("REPLACED", 3)
    assert mesh.ingestion.rechunked == [("negoce", "b/c d.md")]
    assert unnamed.status_code == 400


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("GET", "/v1/documents", 400, "workspace"),
        ("GET", "/v1/documents?workspace=negoce&page_size=501", 400, "page_size"),
        ("GET", "/v1/documents?workspace=negoce&page_size=many", 400, "page_size"),
        ("GET", "/v1/documents/?workspace=negoce", 400, "external_id"),
        ("GET", "/v1/documents/a%00b?workspace=negoce", 400, "external_id"),
        ("GET", f"/v1/documents/{'x' * 513}?workspace=negoce", 400, "external_id"),
        ("DELETE", "/v1/documents/a.md", 400, "workspace"),
        ("GET", "/v1/documents/a.md?workspace=nulle-part", 404, "nulle-part"),
        ("GET", "/v1/documents/none.md?workspace=negoce", 404, "none.md"),
        ("GET", "/v2/search", 404, "/v2/search"),
        ("GET", "/v1/search/", 404, "/v1/search/"),
        ("GET", "/v1/search", 405, "GET"),
        ("PATCH", "/v1/workspaces", 405, "PATCH"),
    ],
)
async def test_every_refusal_has_the_one_shape(
    http: httpx.AsyncClient, method: str, path: str, status: int, named: str
) -> None:
    """Whatever is wrong, the body is the same kind of object and names it."""
    answer = await http.request(method, path)

    error = answer.json()["error"]
    assert answer.status_code == status
    assert list(error) == ["status", "reason", "message", "field_violations", "request_id"]
    assert named in answer.text
    assert error["request_id"] == answer.headers["x-request-id"]


async def test_a_method_that_is_not_served_names_those_that_are(http: httpx.AsyncClient) -> None:
    """405 comes with the header Allow."""
    answer = await http.get("/v1/search")

    assert answer.headers["allow"] == "POST"
    assert answer.json()["error"]["status"] == "UNIMPLEMENTED"


async def test_switches_are_listed_set_and_refreshed(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """A value set over HTTP is in force, one set by SQL after a refresh."""
    await http.post("/v1/switches/refresh")
    changed = await http.put(f"/v1/switches/{RERANKING}", json={"value": "off"})
    listed = await http.get("/v1/switches")
    mesh.database.set(RERANKING, "true")
    refreshed = await http.post("/v1/switches/refresh")

    def value(answer: httpx.Response) -> tuple[str, str]:
        rows = {row["key"]: row for row in answer.json()["switches"]}
        return rows[RERANKING]["value"], rows[RERANKING]["origin"]

    assert changed.json()["value"] == "false"
    assert value(listed) == ("false", "DATABASE")
    assert value(refreshed) == ("true", "DATABASE")
    assert refreshed.json()["refresh_time"] == "2026-05-04T12:00:00Z"


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [("rag_magic", "true", 404), (RERANKING, "perhaps", 400), (RERANKING, True, 400)],
)
async def test_a_switch_that_cannot_be_set(
    http: httpx.AsyncClient, key: str, value: object, status: int
) -> None:
    """Unknown keys are 404, values of the wrong type 400."""
    answer = await http.put(f"/v1/switches/{key}", json={"value": value})

    assert answer.status_code == status


async def test_status_tells_every_service_and_provider(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Serving, not serving, refusing and silent services are told apart, in path order."""
    mesh.health["embedder"].healthy = False
    mesh.health["reranker"].behaviour.error = Unavailable("the reranker cannot be reached")
    mesh.health["ingestion"].behaviour.hangs = True

    body = (await http.get("/v1/status")).json()

    states = {service["name"]: service for service in body["services"]}
    assert tuple(states) == SERVICE_NAMES
    assert [service["health"] for service in body["services"]] == [
        "SERVING",
        "NOT_SERVING",
        "SERVING",
        "UNREACHABLE",
        "UNREACHABLE",
    ]
    assert states["reranker"]["detail"] == "the reranker cannot be reached"
    assert "0.1 s" in states["ingestion"]["detail"]
    assert "latency_ms" in states["retriever"]
    assert "latency_ms" not in states["reranker"]
    assert body["providers"][0]["state"] == "available"


async def test_readiness_follows_the_retriever_and_liveness_does_not(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Without the retriever the gateway is alive and not ready."""
    before = await http.get("/readyz")
    mesh.health["retriever"].behaviour.error = Unavailable("the retriever cannot be reached")
    after = await http.get("/readyz")
    alive = await http.get("/livez")

    assert (before.status_code, before.json()["ready"]) == (200, True)
    assert (after.status_code, after.json()["ready"]) == (503, False)
    assert after.json()["retriever"]["detail"] == "the retriever cannot be reached"
    assert (alive.status_code, alive.json()) == (200, {"alive": True})


async def test_a_document_of_unset_fields_is_told_without_them(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """A moment that is not set is absent."""
    mesh.retriever.documents["negoce", "bare"] = StoredDocument(
        Document("bare"), 3, awaiting_passage_count=2
    )

    answer = await http.get("/v1/documents/bare?workspace=negoce")

    assert "valid_from" not in answer.json()["document"]
    assert answer.json()["document"]["title"] == ""
    assert answer.json()["document"]["awaiting_passage_count"] == 2


async def test_the_documentation_names_every_route(http: httpx.AsyncClient) -> None:
    """/docs opens with files of its own, and the description behind it lists all routes with the
    form of uploads."""
    page = await http.get("/docs")
    described = (await http.get("/openapi.json")).json()

    assert page.status_code == 200
    assert "https://" not in page.headers["content-security-policy"] + page.text
    for file in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert (await http.get(file)).status_code == 200, file
    assert set(described["paths"]) == {
        template.replace(":path", "")
        for _, template in ROUTE_NEEDS
        if not template.startswith(("/docs", "/openapi"))
    }
    assert described["paths"]["/v1/documents/{external_id}"]["get"]["security"]
    assert "security" not in described["paths"]["/livez"]["get"]
    form = described["paths"]["/v1/documents"]["post"]["requestBody"]["content"]
    assert form["multipart/form-data"]["schema"]["required"] == ["file", "workspace"]
