"""Overrides, rollouts and the audit of switches in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chassis.errors import Unavailable
from gateway.switches.change import OBSERVED, ChangeKind, SwitchChange
from gateway.switches.rules import Rollout, SwitchRules
from gateway.switches.values import SwitchValue, written
from tests.fakes.gateway_services.switch_database import NOW


@dataclass
class FakeRuleStore:
    """Implements the `RuleStore`; shared by boards, it is what replicas share."""

    rules: SwitchRules = field(default_factory=SwitchRules)
    noted: list[SwitchChange] = field(default_factory=list)
    observed: dict[str, str | None] = field(default_factory=dict)
    lost: bool = False

    async def version(self) -> int:
        """Implements the store."""
        self._require()
        return self.rules.version

    async def read(self) -> SwitchRules:
        """Implements the store."""
        self._require()
        return self.rules

    async def announce(self) -> None:
        """Implements the store."""
        self._require()
        self._bump()

    async def put_override(
        self, workspace: str, key: str, value: SwitchValue | None, actor: str
    ) -> bool:
        """Implements the store."""
        self._require()
        own = dict(self.rules.overrides.get(workspace, {}))
        old = own.pop(key, None)
        if old == value:
            return False
        if value is not None:
            own[key] = value
        self.rules = replace(self.rules, overrides={**self.rules.overrides, workspace: own})
        self._bump()
        self._note(actor, ChangeKind.OVERRIDE, workspace, key, _text(old), _text(value))
        return True

    async def clear_workspace(self, workspace: str, actor: str) -> None:
        """Implements the store."""
        for key in list(self.rules.overrides.get(workspace, {})):
            await self.put_override(workspace, key, None, actor)

    async def put_rollout(self, key: str, rollout: Rollout | None, actor: str) -> bool:
        """Implements the store."""
        self._require()
        rollouts = dict(self.rules.rollouts)
        old = rollouts.pop(key, None)
        if old == rollout:
            return False
        if rollout is not None:
            rollouts[key] = rollout
        self.rules = replace(self.rules, rollouts=rollouts)
        self._bump()
        self._note(actor, ChangeKind.ROLLOUT, "", key, _words(old), _words(rollout))
        return True

    async def note_values(
        self, values: Mapping[str, str | None], actor: str = OBSERVED
    ) -> Sequence[str]:
        """Implements the store."""
        self._require()
        changed = [k for k in values if k in self.observed and self.observed[k] != values[k]]
        for key in changed:
            self._bump()
            self._note(actor, ChangeKind.SWITCH, "", key, self.observed[key], values[key])
        self.observed |= values
        return changed

    async def changes(self, *, before: int | None, limit: int) -> Sequence[SwitchChange]:
        """Implements the store."""
        self._require()
        found = [each for each in self.noted if before is None or each.number < before]
        return found[::-1][:limit]

    def _require(self) -> None:
        if self.lost:
            raise Unavailable("the gateway's database is lost: gone", reason="DATABASE_LOST")

    def _bump(self) -> None:
        self.rules = replace(self.rules, version=self.rules.version + 1)

    def _note(
        self,
        actor: str,
        kind: ChangeKind,
        workspace: str,
        key: str,
        old: str | None,
        new: str | None,
    ) -> None:
        number = len(self.noted) + 1
        self.noted.append(SwitchChange(number, NOW, actor, kind, workspace, key, old, new))


def _text(value: SwitchValue | None) -> str | None:
    return None if value is None else written(value)


def _words(rollout: Rollout | None) -> str | None:
    return None if rollout is None else f"{written(rollout.value)} for {rollout.percent:g} %"
