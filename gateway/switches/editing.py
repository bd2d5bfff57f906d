"""Changes switches, overrides and rollouts for whichever door asks, and keeps the audit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from chassis.errors import InvalidArgument, NotFound, ServiceError
from gateway.access.identity import current_actor
from gateway.ports import WorkspaceStore
from gateway.switches.board import SwitchState
from gateway.switches.change import SwitchChange
from gateway.switches.rules import Rollout
from gateway.switches.switching import Switching
from gateway.switches.values import DEFINITIONS, SwitchDefinition, SwitchValue, written
from gateway.validation import check_page_size, check_slug

DEFAULT_PAGE_SIZE = 50

_log = structlog.get_logger("gateway.switches")


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """Changes, the latest first; `next_page_token` is empty on the last page."""

    changes: tuple[SwitchChange, ...]
    next_page_token: str


class SwitchEditing:
    """Checks what is asked for, does it, and has every replica follow.

    All methods that change something raise NotFound for a switch that there is not, InvalidArgument
    for a value of the wrong type or range, and Unavailable where the database cannot be written.
    """

    def __init__(self, switching: Switching, workspaces: WorkspaceStore) -> None:
        self._switching = switching
        self._store = switching.store
        self._workspaces = workspaces

    async def set(self, key: str, text: str) -> SwitchState:
        """Sets a switch for all workspaces; an override or a rollout of it still counts first."""
        definition = _definition(key)
        value = _value(definition, text)
        # What somebody else has changed until now is not to be noted as done by this caller.
        await self._switching.refresh()
        state = await self._switching.board.set(key, written(value))
        try:
            await self._store.note_values({key: written(value)}, current_actor())
        except ServiceError as error:
            _log.warning("change of a switch not noted", key=key, error=str(error))
        await self._switching.refresh_everywhere()
        return state

    async def overrides(self, workspace: str) -> Mapping[str, SwitchValue]:
        """Returns the overrides of a workspace by key; NotFound where there is no such one."""
        check_slug(workspace, "workspace")
        await self._workspaces.describe_workspace(workspace)
        return (await self._store.read()).overrides.get(workspace, {})

    async def set_override(self, workspace: str, key: str, text: str) -> SwitchValue:
        """Gives a switch another value in one workspace; NotFound for a workspace too."""
        check_slug(workspace, "workspace")
        value = _value(_definition(key), text)
        await self._workspaces.describe_workspace(workspace)
        await self._store.put_override(workspace, key, value, current_actor())
        await self._switching.refresh()
        return value

    async def clear_override(self, workspace: str, key: str) -> bool:
        """Clears an override; returns whether there was one."""
        check_slug(workspace, "workspace")
        _definition(key)
        await self._workspaces.describe_workspace(workspace)
        cleared = await self._store.put_override(workspace, key, None, current_actor())
        await self._switching.refresh()
        return cleared

    async def forget_workspace(self, workspace: str) -> None:
        """Clears all overrides of a workspace that is being deleted."""
        await self._store.clear_workspace(workspace, current_actor())
        await self._switching.refresh()

    async def set_rollout(self, key: str, text: str, percent: float) -> Rollout:
        """Gives a switch another value for a share of the queries, over 0 up to 100 percent."""
        value = _value(_definition(key), text)
        if not (math.isfinite(percent) and 0 < percent <= 100):
            raise InvalidArgument(
                f"percent {percent:g} must be over 0 and at most 100; to end a rollout, clear it",
                field="percent",
            )
        rollout = Rollout(key, value, percent)
        await self._store.put_rollout(key, rollout, current_actor())
        await self._switching.refresh()
        return rollout

    async def clear_rollout(self, key: str) -> bool:
        """Ends a rollout; returns whether there was one."""
        _definition(key)
        cleared = await self._store.put_rollout(key, None, current_actor())
        await self._switching.refresh()
        return cleared

    async def changes(self, page_size: int = 0, page_token: str = "") -> ChangesPage:
        """Lists who changed what, the latest first; `page_size` 0 means 50, at most 500."""
        check_page_size(page_size)
        size = page_size or DEFAULT_PAGE_SIZE
        before = _number(page_token)
        found = await self._store.changes(before=before, limit=size + 1)
        following = str(found[size - 1].number) if len(found) > size else ""
        return ChangesPage(tuple(found[:size]), following)


def _definition(key: str) -> SwitchDefinition:
    definition = DEFINITIONS.get(key)
    if definition is None:
        raise NotFound(
            f"there is no switch {key[:80]!r}; there are {', '.join(DEFINITIONS)}",
            reason="SWITCH_NOT_FOUND",
        )
    return definition


def _value(definition: SwitchDefinition, text: str) -> SwitchValue:
    try:
        return definition.read(text)
    except ValueError as error:
        raise InvalidArgument(f"{definition.key}: {error}", field="value") from error


def _number(page_token: str) -> int | None:
    if not page_token:
        return None
    if not (page_token.isascii() and page_token.isdigit() and len(page_token) < 19):
        raise InvalidArgument(
            "page_token is not one that a page of changes ended with", field="page_token"
        )
    return int(page_token)
