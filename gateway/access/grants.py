"""What a key may do: actions in workspaces, each grant optionally bound to a part of the documents.

A workspace has one grant of a key: the one that names it, otherwise the one for all workspaces. So
`* read` with `hr read [a filter]` reads everything, and of `hr` only what fulfils the filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gateway.filters import Filter

EVERY_WORKSPACE = "*"


class Action(Enum):
    """What is done in a workspace; `ADMIN` includes the others, which do not include each other."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Grant:
    """Allows actions in a workspace, or in every one that no other grant of the key names.

    With a filter, only documents that fulfil it are there for its holder.
    """

    workspace: str
    actions: frozenset[Action]
    filter: Filter | None = None

    def allows(self, action: Action) -> bool:
        """Whether the action is among those granted."""
        return action in self.actions or Action.ADMIN in self.actions

    @property
    def words(self) -> str:
        """The actions as texts name them, such as `read, write`."""
        return ", ".join(action.value for action in Action if action in self.actions)


@dataclass(frozen=True, slots=True)
class Grants:
    """The grants of one key by workspace; nothing else is allowed."""

    by_workspace: Mapping[str, Grant] = field(default_factory=dict)

    @classmethod
    def of_all(cls, *grants: Grant) -> Grants:
        """Returns the grants of a key; of two for one workspace the later one counts."""
        return cls({grant.workspace: grant for grant in grants})

    def of(self, workspace: str) -> Grant | None:
        """Returns what is granted in a workspace, None for nothing."""
        named = self.by_workspace.get(workspace) if workspace != EVERY_WORKSPACE else None
        return named or self.by_workspace.get(EVERY_WORKSPACE)

    def anywhere(self, action: Action) -> bool:
        """Whether the action is granted in some workspace."""
        return any(grant.allows(action) for grant in self.by_workspace.values())

    @property
    def everywhere(self) -> bool:
        """Whether every action is granted in all workspaces and for all documents."""
        grant = self.by_workspace.get(EVERY_WORKSPACE)
        return grant is not None and grant.allows(Action.ADMIN) and grant.filter is None


EVERYTHING = Grants.of_all(Grant(EVERY_WORKSPACE, frozenset({Action.ADMIN})))
NOTHING = Grants()
