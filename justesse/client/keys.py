"""API keys, and what each of them may do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from justesse.client.filters import Filter
from justesse.client.metadata import moment_from
from justesse.gateway.v1 import keys_pb2

EVERY_WORKSPACE = "*"


class Action(Enum):
    """What a grant allows in a workspace."""

    READ = "read"
    """Searching, explaining, and reading documents."""
    WRITE = "write"
    """Taking documents in, and deleting them; reading is not included."""
    ADMIN = "admin"
    """Creating, changing and deleting the workspace and its spaces, and all of the above."""


_NUMBERS = {
    Action.READ: keys_pb2.ACTION_READ,
    Action.WRITE: keys_pb2.ACTION_WRITE,
    Action.ADMIN: keys_pb2.ACTION_ADMIN,
}
_ACTIONS = {number: action for action, number in _NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Grant:
    """Allows actions in a workspace; "*" stands for all that no other grant of the key names."""

    workspace: str
    actions: Sequence[Action]
    filter: Filter | None = None
    """Documents that are there for the holder of the key; None for all."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its text."""

    prefix: str
    """Public part of the key, which names it."""
    name: str
    grants: tuple[Grant, ...]
    create_time: datetime
    expire_time: datetime | None
    """None where it does not end by itself."""
    revoke_time: datetime | None
    """None where it was not revoked."""
    creator: str
    """Who made it: prefix and name of a key, or "anonymous"."""


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key. Its text cannot be had again."""

    api_key: str = field(repr=False)
    key: Key


def grant_messages(grants: Iterable[Grant]) -> list[keys_pb2.Grant]:
    """Encodes grants."""
    return [
        keys_pb2.Grant(
            workspace=grant.workspace,
            actions=[_NUMBERS[action] for action in grant.actions],
            filter=None if grant.filter is None else grant.filter.message,
        )
        for grant in grants
    ]


def key_from(message: keys_pb2.Key) -> Key:
    """Decodes a key; an action this client does not know is left out."""
    grants: Iterable[keys_pb2.Grant] = message.grants
    return Key(
        prefix=message.prefix,
        name=message.name,
        grants=tuple(
            Grant(
                grant.workspace,
                tuple(_ACTIONS[number] for number in grant.actions if number in _ACTIONS),
                Filter(grant.filter) if grant.HasField("filter") else None,
            )
            for grant in grants
        ),
        create_time=moment_from(message.create_time),
        expire_time=moment_from(message.expire_time) if message.HasField("expire_time") else None,
        revoke_time=moment_from(message.revoke_time) if message.HasField("revoke_time") else None,
        creator=message.creator,
    )


def created_key_from(message: keys_pb2.CreateKeyResponse) -> CreatedKey:
    """Decodes a new key."""
    return CreatedKey(message.api_key, key_from(message.key))
