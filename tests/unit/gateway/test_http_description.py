"""What /openapi.json promises is what callers get."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from gateway.http.models.documents import DocumentPageBody
from gateway.http.models.errors import ErrorAnswer
from gateway.http.models.search import FoundPassagesBody
from tests.fakes.gateway_services.mesh_of_fakes import MeshOfFakes

SEARCH = {"workspace": "negoce", "query": "retards à Marseille"}


async def description(http: httpx.AsyncClient) -> dict[str, Any]:
    """Reads the description of the interface."""
    described = (await http.get("/openapi.json")).json()
    assert isinstance(described, dict)
    return described


@pytest.mark.parametrize(
    ("method", "path", "body", "model"),
    [
        ("POST", "/v1/search", SEARCH, FoundPassagesBody),
        ("GET", "/v1/documents?workspace=negoce", None, DocumentPageBody),
        ("POST", "/v1/search", {"workspace": "negoce", "query": ""}, ErrorAnswer),
        ("POST", "/v1/search", {"nonsense": 1}, ErrorAnswer),
        ("GET", "/v1/workspaces/nulle-part", None, ErrorAnswer),
        ("GET", "/nulle/part", None, ErrorAnswer),
    ],
)
async def test_an_answer_holds_every_field_that_is_described_as_required(
    http: httpx.AsyncClient,
    mesh: MeshOfFakes,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    model: type[BaseModel],
) -> None:
    """Fields that may be absent are not described as required, and none is unknown."""
    answer = await http.request(method, path, json=body)
    schema = model.model_json_schema()

    assert missing(answer.json(), schema, schema.get("$defs", {})) == []


async def test_every_route_describes_its_errors_in_their_one_shape(
    http: httpx.AsyncClient,
) -> None:
    """No route promises the framework's own error bodies."""
    described = await description(http)

    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert "422" not in operation["responses"], path
            for code in ("4XX", "5XX"):
                content = operation["responses"][code]["content"]["application/json"]
                assert content["schema"]["$ref"].endswith("/ErrorAnswer"), path


def missing(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    """Lists required fields that a value lacks, and fields its schema does not know."""
    schema = resolved(schema, definitions)
    if isinstance(value, list):
        return [each for item in value for each in missing(item, schema["items"], definitions)]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    lacking = [name for name in schema.get("required", []) if name not in value]
    for name, inner in value.items():
        if name not in schema["properties"]:
            lacking.append(f"unknown {name}")
        else:
            lacking += missing(inner, schema["properties"][name], definitions)
    return lacking


def resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Follows a reference, and takes the described half of an optional field."""
    for option in schema.get("anyOf", []):
        if "$ref" in option or option.get("type") == "object":
            return resolved(option, definitions)
    if "$ref" in schema:
        found = definitions[schema["$ref"].rsplit("/", 1)[1]]
        assert isinstance(found, dict)
        return found
    return schema
