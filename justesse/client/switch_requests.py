"""What each call about switches sends and how its answer is read."""

from collections.abc import Mapping

from justesse.client import switch_methods
from justesse.client.requests import Call, CallFor
from justesse.client.switches import (
    Switch,
    SwitchChanges,
    Switches,
    SwitchRollout,
    changes_from,
    rollout_from,
    switch_from,
    switches_from,
)
from justesse.gateway.v1 import switches_pb2


def describe_switches() -> CallFor[Switches]:
    """Asks for all switches."""
    return Call(switch_methods.LIST_SWITCHES, switches_pb2.DescribeSwitchesRequest(), switches_from)


def set_switch(key: str, value: str) -> CallFor[Switch]:
    """Asks for a new value of a switch."""
    return Call(
        switch_methods.SET_SWITCH,
        switches_pb2.SetSwitchRequest(key=key, value=value),
        lambda response: switch_from(response.switch),
    )


def refresh_switches() -> CallFor[Switches]:
    """Asks for the switches to be read from the database now."""
    request = switches_pb2.RefreshSwitchesRequest()
    return Call(switch_methods.REFRESH_SWITCHES, request, switches_from)


def list_switch_overrides(workspace: str) -> CallFor[Mapping[str, str]]:
    """Asks for the overrides of a workspace."""
    return Call(
        switch_methods.LIST_SWITCH_OVERRIDES,
        switches_pb2.ListSwitchOverridesRequest(workspace=workspace),
        lambda response: {each.key: each.value for each in response.overrides},
    )


def set_switch_override(workspace: str, key: str, value: str) -> CallFor[str]:
    """Asks for an override."""
    return Call(
        switch_methods.SET_SWITCH_OVERRIDE,
        switches_pb2.SetSwitchOverrideRequest(workspace=workspace, key=key, value=value),
        lambda response: response.override.value,
    )


def clear_switch_override(workspace: str, key: str) -> CallFor[bool]:
    """Asks for the end of an override."""
    return Call(
        switch_methods.CLEAR_SWITCH_OVERRIDE,
        switches_pb2.ClearSwitchOverrideRequest(workspace=workspace, key=key),
        lambda response: response.cleared,
    )


def set_switch_rollout(key: str, value: str, percent: float) -> CallFor[SwitchRollout]:
    """Asks for a rollout."""
    return Call(
        switch_methods.SET_SWITCH_ROLLOUT,
        switches_pb2.SetSwitchRolloutRequest(key=key, value=value, percent=percent),
        lambda response: rollout_from(response.rollout),
    )


def clear_switch_rollout(key: str) -> CallFor[bool]:
    """Asks for the end of a rollout."""
    return Call(
        switch_methods.CLEAR_SWITCH_ROLLOUT,
        switches_pb2.ClearSwitchRolloutRequest(key=key),
        lambda response: response.cleared,
    )


def list_switch_changes(page_size: int, page_token: str) -> CallFor[SwitchChanges]:
    """Asks for a page of changes."""
    return Call(
        switch_methods.LIST_SWITCH_CHANGES,
        switches_pb2.ListSwitchChangesRequest(page_size=page_size, page_token=page_token),
        changes_from,
    )
