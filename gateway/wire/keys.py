"""API keys and their grants to and from messages of the gateway."""

from __future__ import annotations

from collections.abc import Iterable

from chassis.errors import InvalidArgument
from gateway.access.grants import Action, Grant
from gateway.access.key_record import KeyRecord
from gateway.wire.filters import filter_from, write_filter
from gateway.wire.moments import to_timestamp
from justesse.gateway.v1 import keys_pb2

_ACTIONS = {
    Action.READ: keys_pb2.ACTION_READ,
    Action.WRITE: keys_pb2.ACTION_WRITE,
    Action.ADMIN: keys_pb2.ACTION_ADMIN,
}
_ACTIONS_BY_NUMBER = {number: action for action, number in _ACTIONS.items()}


def grants_from(messages: Iterable[keys_pb2.Grant]) -> tuple[Grant, ...]:
    """Reads grants. InvalidArgument names an action this build does not know."""
    return tuple(_grant_from(message, f"grants[{n}]") for n, message in enumerate(messages))


def _grant_from(message: keys_pb2.Grant, field: str) -> Grant:
    unknown = set(message.actions) - _ACTIONS_BY_NUMBER.keys()
    if unknown:
        raise InvalidArgument(
            f"{field}.actions holds {min(unknown)}; expected ACTION_READ, ACTION_WRITE or "
            "ACTION_ADMIN",
            field=f"{field}.actions",
        )
    return Grant(
        message.workspace,
        frozenset(_ACTIONS_BY_NUMBER[number] for number in message.actions),
        filter_from(message.filter, f"{field}.filter") if message.HasField("filter") else None,
    )


def to_key(record: KeyRecord) -> keys_pb2.Key:
    """Writes what is kept of a key, without what its secret could be checked by."""
    message = keys_pb2.Key(
        prefix=record.prefix,
        name=record.name,
        create_time=to_timestamp(record.create_time),
        expire_time=to_timestamp(record.expire_time),
        revoke_time=to_timestamp(record.revoke_time),
        creator=record.creator,
    )
    for grant in record.grants.by_workspace.values():
        written = message.grants.add(
            workspace=grant.workspace,
            actions=[_ACTIONS[action] for action in Action if action in grant.actions],
        )
        if grant.filter is not None:
            write_filter(written.filter, grant.filter)
    return message
