"""What the description of the HTTP door (OpenAPI) says of API keys."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from gateway.access.needs import ROUTE_NEEDS, Reach

_SCHEME = "api_key"


def describe_keys(app: FastAPI) -> None:
    """Lets readers of the description, /docs among them, send a key where one may be needed."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        described = describe()
        schemes = described.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes[_SCHEME] = {
            "type": "http",
            "scheme": "bearer",
            "description": "API key; not needed while there is none",
        }
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                if _needs_key(method.upper(), path):
                    operation["security"] = [{_SCHEME: []}]
        return described

    app.openapi = openapi  # type: ignore[method-assign]


def _needs_key(method: str, path: str) -> bool:
    # The description leaves out how a parameter of a path is read.
    templates = (path, path.replace("{external_id}", "{external_id:path}"))
    needs = [ROUTE_NEEDS[method, each] for each in templates if (method, each) in ROUTE_NEEDS]
    return all(need.reach is not Reach.NOBODY for need in needs)
