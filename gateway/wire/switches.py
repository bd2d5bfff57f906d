"""Switches, and the rules beside them, to messages of the gateway."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.switches.board import SwitchOrigin, SwitchState
from gateway.switches.change import ChangeKind, SwitchChange
from gateway.switches.editing import ChangesPage
from gateway.switches.rules import Rollout
from gateway.switches.switching import SwitchingState
from gateway.switches.values import SwitchValue, written
from gateway.wire.moments import to_timestamp
from justesse.gateway.v1 import switches_pb2

_ORIGINS = {
    SwitchOrigin.DEFAULT: switches_pb2.SWITCH_ORIGIN_DEFAULT,
    SwitchOrigin.DATABASE: switches_pb2.SWITCH_ORIGIN_DATABASE,
    SwitchOrigin.LAST_GOOD: switches_pb2.SWITCH_ORIGIN_LAST_GOOD,
}
_KINDS = {
    ChangeKind.SWITCH: switches_pb2.SWITCH_CHANGE_KIND_SWITCH,
    ChangeKind.OVERRIDE: switches_pb2.SWITCH_CHANGE_KIND_OVERRIDE,
    ChangeKind.ROLLOUT: switches_pb2.SWITCH_CHANGE_KIND_ROLLOUT,
}


def to_switch(state: SwitchState) -> switches_pb2.Switch:
    """Writes one switch."""
    return switches_pb2.Switch(
        key=state.definition.key,
        value=written(state.value),
        default_value=written(state.definition.default),
        description=state.definition.description,
        origin=_ORIGINS[state.origin],
        error=state.error,
    )


def to_describe_response(state: SwitchingState) -> switches_pb2.DescribeSwitchesResponse:
    """Writes all switches and rollouts."""
    return switches_pb2.DescribeSwitchesResponse(
        switches=map(to_switch, state.board.switches),
        refresh_time=to_timestamp(state.board.refresh_time),
        refresh_error=state.board.refresh_error,
        rollouts=map(to_rollout, state.rules.rollouts.values()),
        rules_error=state.rules_error,
        age_s=state.board.age_s,
    )


def to_refresh_response(state: SwitchingState) -> switches_pb2.RefreshSwitchesResponse:
    """Writes all switches and rollouts after a refresh."""
    return switches_pb2.RefreshSwitchesResponse(
        switches=map(to_switch, state.board.switches),
        refresh_time=to_timestamp(state.board.refresh_time),
        refresh_error=state.board.refresh_error,
        rollouts=map(to_rollout, state.rules.rollouts.values()),
        rules_error=state.rules_error,
        age_s=state.board.age_s,
    )


def to_rollout(rollout: Rollout) -> switches_pb2.SwitchRollout:
    """Writes a rollout."""
    return switches_pb2.SwitchRollout(
        key=rollout.key, value=written(rollout.value), percent=rollout.percent
    )


def to_overrides(
    overrides: Mapping[str, SwitchValue],
) -> switches_pb2.ListSwitchOverridesResponse:
    """Writes the overrides of a workspace."""
    return switches_pb2.ListSwitchOverridesResponse(
        overrides=[
            switches_pb2.SwitchOverride(key=key, value=written(value))
            for key, value in sorted(overrides.items())
        ]
    )


def to_changes_response(page: ChangesPage) -> switches_pb2.ListSwitchChangesResponse:
    """Writes a page of the audit."""
    return switches_pb2.ListSwitchChangesResponse(
        changes=map(_to_change, page.changes), next_page_token=page.next_page_token
    )


def _to_change(change: SwitchChange) -> switches_pb2.SwitchChange:
    return switches_pb2.SwitchChange(
        change_time=to_timestamp(change.moment),
        actor=change.actor,
        kind=_KINDS[change.kind],
        workspace=change.workspace,
        key=change.key,
        old_value=change.old_value,
        new_value=change.new_value,
    )
