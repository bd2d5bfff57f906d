"""Switches: features of the mesh that are turned on and off without a restart."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from justesse.client.metadata import moment_from
from justesse.gateway.v1 import switches_pb2


class SwitchOrigin(StrEnum):
    """Where the value in force comes from."""

    DEFAULT = "default"
    DATABASE = "database"
    LAST_GOOD = "last_good"
    """The table at an earlier refresh; what it holds now is refused or cannot be read."""
    UNKNOWN = "unknown"
    """An origin that is newer than this client."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch."""

    key: str
    value: str
    """Value in force, as text: "true", "false" or a number."""
    default_value: str
    description: str
    origin: SwitchOrigin
    error: str
    """Why the value in the table was refused; empty if it was not."""


@dataclass(frozen=True, slots=True)
class Switches:
    """All switches by key."""

    switches: tuple[Switch, ...]
    refresh_time: datetime | None
    """When the table was last read; None: never."""
    refresh_error: str
    """Why the last refresh failed; empty if it did not."""


_ORIGINS = {
    switches_pb2.SWITCH_ORIGIN_DEFAULT: SwitchOrigin.DEFAULT,
    switches_pb2.SWITCH_ORIGIN_DATABASE: SwitchOrigin.DATABASE,
    switches_pb2.SWITCH_ORIGIN_LAST_GOOD: SwitchOrigin.LAST_GOOD,
}


def switch_from(message: switches_pb2.Switch) -> Switch:
    """Decodes a switch."""
    return Switch(
        key=message.key,
        value=message.value,
        default_value=message.default_value,
        description=message.description,
        origin=_ORIGINS.get(message.origin, SwitchOrigin.UNKNOWN),
        error=message.error,
    )


def switches_from(
    message: switches_pb2.ListSwitchesResponse | switches_pb2.RefreshSwitchesResponse,
) -> Switches:
    """Decodes the list of switches."""
    messages: Iterable[switches_pb2.Switch] = message.switches
    return Switches(
        switches=tuple(switch_from(switch) for switch in messages),
        refresh_time=(
            moment_from(message.refresh_time) if message.HasField("refresh_time") else None
        ),
        refresh_error=message.refresh_error,
    )
