"""What each call about keys sends and how its answer is read."""

from collections.abc import Iterable
from datetime import datetime

from justesse.client import key_methods
from justesse.client.keys import CreatedKey, Grant, Key, created_key_from, grant_messages, key_from
from justesse.client.metadata import timestamp_from
from justesse.client.requests import Call, CallFor
from justesse.gateway.v1 import keys_pb2


def create_key(
    name: str, grants: Iterable[Grant], expire_time: datetime | None
) -> CallFor[CreatedKey]:
    """Asks for a new key; ValueError for a moment without a time zone."""
    request = keys_pb2.CreateKeyRequest(
        name=name,
        grants=grant_messages(grants),
        expire_time=None if expire_time is None else timestamp_from(expire_time, "expire_time"),
    )
    return Call(key_methods.CREATE_KEY, request, created_key_from)


def list_keys() -> CallFor[tuple[Key, ...]]:
    """Asks for all keys."""
    return Call(
        key_methods.LIST_KEYS,
        keys_pb2.ListKeysRequest(),
        lambda response: tuple(key_from(each) for each in response.keys),
    )


def revoke_key(prefix: str) -> CallFor[Key]:
    """Asks for the end of a key."""
    return Call(
        key_methods.REVOKE_KEY,
        keys_pb2.RevokeKeyRequest(prefix=prefix),
        lambda response: key_from(response.key),
    )
