"""API keys over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from gateway.access.keys import Keys
from gateway.http.json_bodies import StrictJsonRoute
from gateway.http.models.keys import (
    CreatedKeyBody,
    CreateKeyBody,
    KeyBody,
    KeysBody,
    to_created_key_body,
    to_key_body,
)
from gateway.http.responses import JsonResponse


def key_routes(keys: Keys) -> APIRouter:
    """Returns the routes of keys."""
    router = APIRouter(tags=["keys"], route_class=StrictJsonRoute)

    @router.post("/v1/keys", response_model=CreatedKeyBody, status_code=201)
    async def create_key(body: CreateKeyBody) -> JsonResponse:
        """Makes a key, which works at once; its text is in this answer and nowhere else."""
        grants = [each.grant() for each in body.grants]
        created = await keys.create(body.name, grants, body.expire_time)
        return JsonResponse(to_created_key_body(created), 201)

    @router.get("/v1/keys", response_model=KeysBody)
    async def list_keys() -> JsonResponse:
        """Lists all keys, the latest first, revoked and expired ones too."""
        return JsonResponse(KeysBody(keys=[to_key_body(each) for each in await keys.list_all()]))

    @router.delete("/v1/keys/{prefix}", response_model=KeyBody)
    async def revoke_key(prefix: str) -> JsonResponse:
        """Revokes a key: within a minute no gateway serves it; a second time changes nothing."""
        return JsonResponse(to_key_body(await keys.revoke(prefix)))

    return router
