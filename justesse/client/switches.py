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
class SwitchRollout:
    """Another value of a switch for a share of the queries."""

    key: str
    value: str
    percent: float
    """Over 0, up to 100."""


@dataclass(frozen=True, slots=True)
class Switches:
    """All switches by key."""

    switches: tuple[Switch, ...]
    refresh_time: datetime | None
    """When the table was last read; None: never."""
    refresh_error: str
    """Why the last refresh failed; empty if it did not."""
    rollouts: tuple[SwitchRollout, ...] = ()
    """Rollouts that are on, by key."""
    rules_error: str = ""
    """Why overrides and rollouts could not be read last time; empty if they could."""
    age_s: float | None = None
    """Seconds since the table was last read, by the gateway's clock; None: never."""


class SwitchChangeKind(StrEnum):
    """What was changed."""

    SWITCH = "switch"
    OVERRIDE = "override"
    ROLLOUT = "rollout"
    UNKNOWN = "unknown"
    """A kind that is newer than this client."""


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """Who changed what, and when; None for a value where there was, or is, none."""

    change_time: datetime
    actor: str
    """Prefix and name of a key, "anonymous", or "observed at refresh" for plain SQL."""
    kind: SwitchChangeKind
    workspace: str
    key: str
    old_value: str | None
    new_value: str | None


@dataclass(frozen=True, slots=True)
class SwitchChanges:
    """A page of changes, the latest first; `next_page_token` is empty on the last one."""

    changes: tuple[SwitchChange, ...]
    next_page_token: str


_ORIGINS = {
    switches_pb2.SWITCH_ORIGIN_DEFAULT: SwitchOrigin.DEFAULT,
    switches_pb2.SWITCH_ORIGIN_DATABASE: SwitchOrigin.DATABASE,
    switches_pb2.SWITCH_ORIGIN_LAST_GOOD: SwitchOrigin.LAST_GOOD,
}

_KINDS = {
    switches_pb2.SWITCH_CHANGE_KIND_SWITCH: SwitchChangeKind.SWITCH,
    switches_pb2.SWITCH_CHANGE_KIND_OVERRIDE: SwitchChangeKind.OVERRIDE,
    switches_pb2.SWITCH_CHANGE_KIND_ROLLOUT: SwitchChangeKind.ROLLOUT,
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
    message: switches_pb2.DescribeSwitchesResponse | switches_pb2.RefreshSwitchesResponse,
) -> Switches:
    """Decodes the list of switches."""
    messages: Iterable[switches_pb2.Switch] = message.switches
    return Switches(
        switches=tuple(switch_from(switch) for switch in messages),
        refresh_time=(
            moment_from(message.refresh_time) if message.HasField("refresh_time") else None
        ),
        refresh_error=message.refresh_error,
        rollouts=tuple(map(rollout_from, message.rollouts)),
        rules_error=message.rules_error,
        age_s=message.age_s if message.HasField("age_s") else None,
    )


def rollout_from(message: switches_pb2.SwitchRollout) -> SwitchRollout:
    """Decodes a rollout."""
    return SwitchRollout(message.key, message.value, message.percent)


def changes_from(message: switches_pb2.ListSwitchChangesResponse) -> SwitchChanges:
    """Decodes a page of changes."""
    messages: Iterable[switches_pb2.SwitchChange] = message.changes
    return SwitchChanges(
        tuple(
            SwitchChange(
                change_time=moment_from(change.change_time),
                actor=change.actor,
                kind=_KINDS.get(change.kind, SwitchChangeKind.UNKNOWN),
                workspace=change.workspace,
                key=change.key,
                old_value=change.old_value if change.HasField("old_value") else None,
                new_value=change.new_value if change.HasField("new_value") else None,
            )
            for change in messages
        ),
        message.next_page_token,
    )
