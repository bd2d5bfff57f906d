"""API keys over gRPC."""

from __future__ import annotations

from chassis.interception import ServicerContext
from gateway.access.keys import Keys
from gateway.wire.keys import grants_from, to_key
from gateway.wire.moments import moment_from
from justesse.gateway.v1 import keys_pb2, keys_pb2_grpc


class KeyServicer(keys_pb2_grpc.KeyServiceServicer):
    """Serves justesse.gateway.v1.KeyService."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def CreateKey(
        self, request: keys_pb2.CreateKeyRequest, context: ServicerContext
    ) -> keys_pb2.CreateKeyResponse:
        """Makes a key."""
        expires = request.HasField("expire_time")
        created = await self._keys.create(
            request.name,
            grants_from(request.grants),
            moment_from(request.expire_time, "expire_time") if expires else None,
        )
        return keys_pb2.CreateKeyResponse(api_key=created.key.text, key=to_key(created.record))

    async def ListKeys(
        self, request: keys_pb2.ListKeysRequest, context: ServicerContext
    ) -> keys_pb2.ListKeysResponse:
        """Lists all keys."""
        return keys_pb2.ListKeysResponse(keys=map(to_key, await self._keys.list_all()))

    async def RevokeKey(
        self, request: keys_pb2.RevokeKeyRequest, context: ServicerContext
    ) -> keys_pb2.RevokeKeyResponse:
        """Revokes a key."""
        return keys_pb2.RevokeKeyResponse(key=to_key(await self._keys.revoke(request.prefix)))
