"""One line of the audit of switches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

OBSERVED = "observed at refresh"
"""The actor of an edit that did not come through the gateway, such as plain SQL."""


class ChangeKind(Enum):
    """What was changed."""

    SWITCH = "switch"
    OVERRIDE = "override"
    ROLLOUT = "rollout"


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """Who changed what, and when; None for a value where there was, or is, none.

    The values of a rollout are written as `false for 20 %`. `workspace` is empty but for overrides.
    `number` grows with every change.
    """

    number: int
    moment: datetime
    actor: str
    kind: ChangeKind
    workspace: str
    key: str
    old_value: str | None
    new_value: str | None
