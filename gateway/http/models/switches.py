"""Switches, and the rules beside them, in JSON."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gateway.http.models.values import RequestBody
from gateway.switches.board import SwitchState
from gateway.switches.editing import ChangesPage
from gateway.switches.rules import Rollout
from gateway.switches.switching import SwitchingState
from gateway.switches.values import written


class SetSwitchBody(RequestBody):
    """A new value."""

    value: str = Field(description='"true", "false" or a number, as text')


class SetRolloutBody(SetSwitchBody):
    """A value for a share of the queries."""

    percent: float = Field(description="share of the queries, over 0, up to 100")


class SwitchBody(BaseModel):
    """One switch; `origin` is DEFAULT, DATABASE or LAST_GOOD."""

    key: str
    value: str
    default_value: str
    description: str
    origin: str
    error: str


class RolloutBody(BaseModel):
    """A rollout that is on."""

    key: str
    value: str
    percent: float


class SwitchesBody(BaseModel):
    """All switches by key; `age_s` is the seconds since the table was read, without it never."""

    switches: list[SwitchBody]
    refresh_time: datetime | None = None
    refresh_error: str
    rollouts: list[RolloutBody]
    rules_error: str
    age_s: float | None = None


class OverrideBody(BaseModel):
    """Another value of a switch in one workspace."""

    key: str
    value: str


class OverridesBody(BaseModel):
    """The overrides of a workspace by key."""

    overrides: list[OverrideBody]


class ClearedBody(BaseModel):
    """Whether there was what was to be ended."""

    cleared: bool


class SwitchChangeBody(BaseModel):
    """Who changed what; `kind` is SWITCH, OVERRIDE or ROLLOUT, a value null where there is none."""

    change_time: datetime
    actor: str
    kind: str
    workspace: str
    key: str
    old_value: str | None
    new_value: str | None


class SwitchChangesBody(BaseModel):
    """A page of changes, the latest first; `next_page_token` is empty on the last one."""

    changes: list[SwitchChangeBody]
    next_page_token: str


def to_switch_body(state: SwitchState) -> SwitchBody:
    """Writes one switch."""
    return SwitchBody(
        key=state.definition.key,
        value=written(state.value),
        default_value=written(state.definition.default),
        description=state.definition.description,
        origin=state.origin.name,
        error=state.error,
    )


def to_rollout_body(rollout: Rollout) -> RolloutBody:
    """Writes a rollout."""
    return RolloutBody(key=rollout.key, value=written(rollout.value), percent=rollout.percent)


def to_switches_body(state: SwitchingState) -> SwitchesBody:
    """Writes all switches and rollouts."""
    return SwitchesBody(
        switches=[to_switch_body(each) for each in state.board.switches],
        refresh_time=state.board.refresh_time,
        refresh_error=state.board.refresh_error,
        rollouts=[to_rollout_body(each) for each in state.rules.rollouts.values()],
        rules_error=state.rules_error,
        age_s=state.board.age_s,
    )


def to_changes_body(page: ChangesPage) -> SwitchChangesBody:
    """Writes a page of the audit."""
    return SwitchChangesBody(
        changes=[
            SwitchChangeBody(
                change_time=change.moment,
                actor=change.actor,
                kind=change.kind.name,
                workspace=change.workspace,
                key=change.key,
                old_value=change.old_value,
                new_value=change.new_value,
            )
            for change in page.changes
        ],
        next_page_token=page.next_page_token,
    )
