"""Documents outside of a grant's filter are not there, for readers and for writers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from gateway.access.grants import Action
from gateway.filters import AllOf, Equals
from tests.fakes.gateway_services.doors import Doors
from tests.fakes.gateway_services.keys import grant
from tests.fakes.gateway_services.passages import stored_document

OWN = Equals("metadata.team", "sales")
HIDDEN_TEXT = "canari-caché"


@pytest.fixture
def keys(doors: Doors) -> dict[str, dict[str, str]]:
    """Headers of a bounded reader, and of one who also writes; document `hidden` is not theirs."""
    documents = doors.mesh.retriever.documents
    documents.clear()
    for external_id, team in (("own.md", "sales"), ("hidden.md", "hr")):
        stored = stored_document(external_id, HIDDEN_TEXT if team == "hr" else "Texte.")
        document = replace(stored.document, metadata={"team": team}, title=f"Titre {team}")
        documents["negoce", external_id] = replace(stored, document=document)
    give = doors.mesh.key_store.give
    held = {
        "reader": give(grant("negoce", Action.READ, only=OWN)),
        "writer": give(grant("negoce", Action.WRITE, only=OWN)),
        "both": give(grant("negoce", Action.READ, Action.WRITE, only=OWN)),
    }
    return {name: {"Authorization": f"Bearer {key.text}"} for name, key in held.items()}


def stored_ids(doors: Doors) -> set[str]:
    """Returns the ids of the documents that are there."""
    return {external_id for _, external_id in doors.mesh.retriever.documents}


def told(answer: httpx.Response, name: str) -> tuple[int, dict[str, Any]]:
    """Returns the answer without the request's id and the document's name."""
    body = answer.text.replace(name, "NAME").replace(answer.headers["X-Request-Id"], "ID")
    return answer.status_code, {"body": body}


async def test_lists_and_their_counts_hold_own_documents_only(
    doors: Doors, keys: dict[str, dict[str, str]]
) -> None:
    """As if there were no other."""
    answer = await doors.http.get("/v1/documents?workspace=negoce", headers=keys["reader"])

    body = answer.json()
    assert [each["external_id"] for each in body["documents"]] == ["own.md"]
    assert (body["total_count"], body["next_page_token"]) == (1, "")


@pytest.mark.parametrize(
    ("method", "path", "who"),
    [
        ("GET", "/v1/documents/{}?workspace=negoce", "reader"),
        ("DELETE", "/v1/documents/{}?workspace=negoce", "writer"),
        ("POST", "/v1/documents/rechunk?workspace=negoce&external_id={}", "writer"),
    ],
)
async def test_a_hidden_document_is_answered_as_a_missing_one(
    doors: Doors, keys: dict[str, dict[str, str]], method: str, path: str, who: str
) -> None:
    """To readers and writers alike; nothing is done to it."""
    doors.mesh.retriever.documents.pop(("negoce", "missing.md"), None)
    answers = {
        name: await doors.http.request(method, path.format(name), headers=keys[who])
        for name in ("hidden.md", "missing.md")
    }
    own = await doors.http.request(method, path.format("own.md"), headers=keys[who])

    assert told(answers["hidden.md"], "hidden.md") == told(answers["missing.md"], "missing.md")
    assert own.status_code == 200
    assert "hidden.md" in stored_ids(doors)
    assert HIDDEN_TEXT not in answers["hidden.md"].text


async def test_an_explanation_does_not_tell_of_hidden_documents(
    doors: Doors, keys: dict[str, dict[str, str]]
) -> None:
    """It would name the value that the filter misses."""
    answers = {}
    for name in ("hidden.md", "missing.md"):
        body = {"workspace": "negoce", "query": "retards", "external_id": name}
        answers[name] = await doors.http.post("/v1/explain", json=body, headers=keys["reader"])

    assert told(answers["hidden.md"], "hidden.md") == told(answers["missing.md"], "missing.md")
    assert answers["hidden.md"].status_code == 404
    assert doors.mesh.retriever.explained == []


async def test_every_search_is_bound(doors: Doors, keys: dict[str, dict[str, str]]) -> None:
    """Beside what it asks for itself, an opposite filter included."""
    asked = {"negation": {"equals": {"field": "metadata.team", "value": "sales"}}}
    body = {"workspace": "negoce", "query": "retards", "filter": asked}

    for each in (body, {**body, "filter": None}):
        answer = await doors.http.post("/v1/search", json=each, headers=keys["reader"])
        assert answer.status_code == 200

    first, second = (search.filter for search in doors.mesh.retriever.searches)
    assert isinstance(first, AllOf)
    assert first.filters[0] == second == OWN


async def test_a_page_token_of_another_grant_is_none_of_this_one(
    doors: Doors, keys: dict[str, dict[str, str]]
) -> None:
    """It holds the order of passages that its bearer could see."""
    everything = doors.mesh.key_store.give(grant("negoce", Action.READ))
    full = {"Authorization": f"Bearer {everything.text}"}
    body = {"workspace": "negoce", "query": "retards", "limit": 1}
    token = (await doors.http.post("/v1/search", json=body, headers=full)).json()["next_page_token"]
    assert token

    answer = await doors.http.post(
        "/v1/search", json={**body, "page_token": token}, headers=keys["reader"]
    )

    assert answer.status_code == 400
    assert "another question" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("external_id", "team", "status"),
    [
        ("own.md", "sales", 200),
        ("new.md", "sales", 200),
        ("new.md", "hr", 403),
        ("new.md", None, 403),
        ("own.md", "hr", 403),
        ("hidden.md", "sales", 403),
        ("hidden.md", "hr", 403),
    ],
)
async def test_a_bounded_writer_writes_within_its_bounds(
    doors: Doors, keys: dict[str, dict[str, str]], external_id: str, team: str | None, status: int
) -> None:
    """Neither does a file come in outside of them, nor does one take a hidden document's place."""
    data = {"workspace": "negoce", "external_id": external_id}
    if team is not None:
        data["metadata"] = f'{{"team": "{team}"}}'

    answer = await doors.http.post(
        "/v1/documents", files={"file": ("n.md", b"text")}, data=data, headers=keys["writer"]
    )

    assert answer.status_code == status
    assert len(doors.mesh.ingestion.taken) == (status == 200)
    assert "hr" not in answer.text.replace("metadata", "")


async def test_a_bounded_writer_keeps_no_earlier_versions(
    doors: Doors, keys: dict[str, dict[str, str]]
) -> None:
    """The id they would get, `own.md@1`, could be that of a hidden document."""
    data = {
        "workspace": "negoce",
        "external_id": "own.md",
        "metadata": '{"team": "sales"}',
        "keep_previous": "true",
    }

    answer = await doors.http.post(
        "/v1/documents", files={"file": ("n.md", b"text")}, data=data, headers=keys["writer"]
    )

    assert (answer.status_code, doors.mesh.ingestion.taken) == (403, [])


async def test_a_writer_without_a_read_grant_reads_nothing(
    doors: Doors, keys: dict[str, dict[str, str]]
) -> None:
    """Not even what it has written itself."""
    answer = await doors.http.get("/v1/documents/own.md?workspace=negoce", headers=keys["writer"])

    assert answer.status_code == 403


async def test_a_workspace_that_is_gone_is_told_to_bounded_callers(
    doors: Doors, keys: dict[str, dict[str, str]]
) -> None:
    """As to all who hold a grant in it: the retriever's own words."""
    doors.mesh.retriever.workspaces.clear()

    for method in ("GET", "DELETE"):
        answer = await doors.http.request(
            method, "/v1/documents/own.md?workspace=negoce", headers=keys["both"]
        )
        assert answer.json()["error"]["reason"] == "WORKSPACE_NOT_FOUND"
