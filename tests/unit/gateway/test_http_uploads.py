"""Files uploaded over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from chassis.errors import InvalidArgument, Unavailable
from gateway.incoming_files import IncomingFile
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes
from tests.fakes.gateway_services.spaces import SPACE


async def upload(
    http: httpx.AsyncClient, content: bytes = b"# Titre", **fields: Any
) -> httpx.Response:
    """Posts one file with form fields."""
    return await http.post(
        "/v1/documents", files={"file": ("note.md", content)}, data={"workspace": "negoce"} | fields
    )


async def test_a_file_arrives_whole_with_all_its_fields(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """Bytes and description reach the ingestion role; the report comes back."""
    content = bytes(range(256)) * 3000

    answer = await upload(
        http,
        content,
        external_id="notes/1",
        title="Une note",
        keywords=["un", "deux"],
        source_uri="https://example.org/n",
        category="orders",
        language="fr",
        metadata='{"week": 12, "urgent": true, "day": {"time_value": "2026-05-01T00:00:00Z"}}',
        version="2",
        superseded="true",
        valid_from="2026-01-01T00:00:00Z",
        valid_until="2027-01-01T00:00:00+00:00",
    )

    assert answer.status_code == 200
    assert mesh.ingestion.taken == [
        (
            IncomingFile(
                workspace="negoce",
                file_name="note.md",
                external_id="notes/1",
                title="Une note",
                keywords=("un", "deux"),
                source_uri="https://example.org/n",
                category="orders",
                language="fr",
                metadata={"week": 12.0, "urgent": True, "day": datetime(2026, 5, 1, tzinfo=UTC)},
                version="2",
                superseded=True,
                valid_from=datetime(2026, 1, 1, tzinfo=UTC),
                valid_until=datetime(2027, 1, 1, tzinfo=UTC),
                byte_count=len(content),
            ),
            content,
        )
    ]
    assert answer.json() == {
        "outcome": "CREATED",
        "external_id": "notes/1",
        "title": "Une note",
        "passage_count": 2,
        "awaiting_passage_count": 0,
        "space_id": SPACE.space_id,
        "warnings": ["one remark"],
        "kept_vector_count": 0,
    }


async def test_workspace_and_file_are_enough(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """What is left out is read from the file by the ingestion role."""
    answer = await upload(http)

    assert answer.status_code == 200
    assert mesh.ingestion.taken == [(IncomingFile("negoce", "note.md", byte_count=7), b"# Titre")]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"workspace": ""}, "workspace"),
        ({"workspace": "Not A Slug"}, "workspace"),
        ({"workspace": ["negoce", "export"]}, "workspace"),
        ({"metadata": "{"}, "metadata"),
        ({"metadata": '{"a": [1]}'}, "metadata"),
        ({"metadata": "[]"}, "metadata"),
        ({"superseded": "perhaps"}, "superseded"),
        ({"valid_from": "yesterday"}, "valid_from"),
        ({"valid_from": "2026-01-01T00:00:00"}, "valid_from"),
        ({"external_id": "a\nb"}, "external_id"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_a_wrong_field_is_named(
    http: httpx.AsyncClient, mesh: MeshOfFakes, fields: dict[str, Any], field: str
) -> None:
    """Nothing is taken in, and the field is named."""
    answer = await upload(http, **fields)

    violations = answer.json()["error"]["field_violations"]
    assert answer.status_code == 400
    assert violations[0]["field"].startswith(field)
    assert not mesh.ingestion.taken


async def test_a_request_without_a_form_is_told_how_to_send_one(http: httpx.AsyncClient) -> None:
    """JSON in place of a form is a 400 that helps."""
    answer = await http.post("/v1/documents", json={"workspace": "negoce"})

    assert answer.status_code == 400
    assert "multipart/form-data" in answer.json()["error"]["message"]


async def test_a_form_without_a_file_is_refused(http: httpx.AsyncClient) -> None:
    """The missing field is named."""
    answer = await http.post(
        "/v1/documents", files={"other": ("a.md", b"x")}, data={"workspace": "negoce"}
    )

    assert answer.status_code == 400
    assert answer.json()["error"]["field_violations"][0]["field"] == "file"


async def test_two_files_at_once_are_refused(http: httpx.AsyncClient) -> None:
    """One request takes one file in."""
    answer = await http.post(
        "/v1/documents",
        files=[("file", ("a.md", b"x")), ("file", ("b.md", b"y"))],
        data={"workspace": "negoce"},
    )

    assert answer.status_code == 400


@pytest.mark.parametrize("body", [b"", b"--nothing", b"--x\r\n\r\n", b"\x00" * 1000])
async def test_a_broken_form_is_a_clean_error(http: httpx.AsyncClient, body: bytes) -> None:
    """Whatever the body holds, the answer is a 400 in the one shape."""
    answer = await http.post(
        "/v1/documents",
        content=body,
        headers={"content-type": "multipart/form-data; boundary=x"},
    )

    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


async def test_a_form_without_boundary_is_a_clean_error(http: httpx.AsyncClient) -> None:
    """A content type that is not complete is the caller's mistake."""
    answer = await http.post(
        "/v1/documents", content=b"x", headers={"content-type": "multipart/form-data"}
    )

    assert answer.status_code == 400


async def test_a_file_over_the_limit_is_413(http: httpx.AsyncClient, mesh: MeshOfFakes) -> None:
    """The limit is named; the file is not taken in."""
    answer = await upload(http, b"x" * (mesh.max_file_bytes + 1))

    error = answer.json()["error"]
    assert answer.status_code == 413
    assert (error["status"], error["reason"]) == ("RESOURCE_EXHAUSTED", "FILE_TOO_LARGE")
    assert str(mesh.max_file_bytes) in error["message"]
    assert not mesh.ingestion.taken


async def test_a_file_of_exactly_the_limit_is_taken(
    http: httpx.AsyncClient, mesh: MeshOfFakes
) -> None:
    """The limit itself is in."""
    answer = await upload(http, b"x" * mesh.max_file_bytes)

    assert answer.status_code == 200
    assert len(mesh.ingestion.taken[0][1]) == mesh.max_file_bytes


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidArgument("note.md has an unsupported type", reason="UNSUPPORTED_TYPE"), 400),
        (Unavailable("the ingestion role cannot be reached"), 503),
    ],
)
async def test_refusals_of_the_ingestion_role_pass(
    http: httpx.AsyncClient, mesh: MeshOfFakes, error: Exception, status: int
) -> None:
    """Status, reason and words are those of the ingestion role."""
    mesh.ingestion.behaviour.error = error

    answer = await upload(http)

    assert answer.status_code == status
    assert answer.json()["error"]["message"] == str(error)
