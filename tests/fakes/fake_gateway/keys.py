"""The part of the fake gateway that keeps API keys."""

from google.protobuf.timestamp_pb2 import Timestamp

from chassis.errors import NotFound
from chassis.interception import ServicerContext
from justesse.gateway.v1 import keys_pb2, keys_pb2_grpc
from tests.fakes.fake_gateway.state import UPDATE_SECONDS, GatewayState, fail

NOW = Timestamp(seconds=UPDATE_SECONDS)


class FakeKeys(keys_pb2_grpc.KeyServiceServicer):
    """Numbers keys as they are made, and shows the number as their secret."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def CreateKey(
        self, request: keys_pb2.CreateKeyRequest, context: ServicerContext
    ) -> keys_pb2.CreateKeyResponse:
        """Keeps what it is asked for."""
        await self._state.enter("CreateKey", context)
        prefix = f"jst_{len(self._state.keys):012x}"
        key = keys_pb2.Key(
            prefix=prefix,
            name=request.name,
            grants=request.grants,
            create_time=NOW,
            expire_time=request.expire_time if request.HasField("expire_time") else None,
            creator="anonymous",
        )
        self._state.keys[prefix] = key
        return keys_pb2.CreateKeyResponse(api_key=f"{prefix}_secret", key=key)

    async def ListKeys(
        self, request: keys_pb2.ListKeysRequest, context: ServicerContext
    ) -> keys_pb2.ListKeysResponse:
        """Lists all."""
        await self._state.enter("ListKeys", context)
        return keys_pb2.ListKeysResponse(keys=self._state.keys.values())

    async def RevokeKey(
        self, request: keys_pb2.RevokeKeyRequest, context: ServicerContext
    ) -> keys_pb2.RevokeKeyResponse:
        """Revokes a key that is there."""
        await self._state.enter("RevokeKey", context)
        key = self._state.keys.get(request.prefix)
        if key is None:
            await fail(context, NotFound(f"there is no key {request.prefix}"))
        key.revoke_time.CopyFrom(NOW)
        return keys_pb2.RevokeKeyResponse(key=key)
