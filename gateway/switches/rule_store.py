"""Where overrides, rollouts and the audit of switches are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gateway.switches.change import OBSERVED, SwitchChange
from gateway.switches.rules import Rollout, SwitchRules
from gateway.switches.values import SwitchValue


class RuleStore(Protocol):
    """Keeps rules and the audit; every method raises Unavailable where the database is lost."""

    async def version(self) -> int:
        """Returns how often anything was changed or announced."""
        ...

    async def read(self) -> SwitchRules:
        """Returns all rules; one of an unknown switch, or with a value it cannot have, is left out.

        It is logged, since somebody else wrote it.
        """
        ...

    async def announce(self) -> None:
        """Has every replica read everything again."""
        ...

    async def put_override(
        self, workspace: str, key: str, value: SwitchValue | None, actor: str
    ) -> bool:
        """Sets an override, None to clear it; returns whether that changed anything."""
        ...

    async def clear_workspace(self, workspace: str, actor: str) -> None:
        """Clears all overrides of a workspace."""
        ...

    async def put_rollout(self, key: str, rollout: Rollout | None, actor: str) -> bool:
        """Begins or changes a rollout, None to end it; returns whether that changed anything."""
        ...

    async def note_values(
        self, values: Mapping[str, str | None], actor: str = OBSERVED
    ) -> Sequence[str]:
        """Notes what the switches' table holds; returns the keys whose value is another one.

        Each change is written down once, by whichever replica sees it first. What is noted for the
        first time is no change.
        """
        ...

    async def changes(self, *, before: int | None, limit: int) -> Sequence[SwitchChange]:
        """Returns changes, the latest first, of numbers under `before` where that is given."""
        ...
