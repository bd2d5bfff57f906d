"""What the call being served may do, at hand wherever its work is done.

A door binds it before the work begins. Where nothing is bound no door was passed: work of the
process itself, and tests of parts.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from chassis.errors import NotFound, PermissionDenied
from gateway.access.grants import Action, Grant, Grants
from gateway.access.identity import Identity, bind_identity
from gateway.access.needs import Need, Reach
from gateway.filters import Filter

_WORKSPACE_NOT_FOUND = "WORKSPACE_NOT_FOUND"


@dataclass(frozen=True, slots=True)
class CallAccess:
    """Who calls, with which grants, and what the call needs; `None` is a call nobody may make."""

    identity: Identity | None
    grants: Grants
    need: Need | None

    def check_before_reading(self) -> None:
        """Refuses what no content of the request could make allowed; PermissionDenied."""
        need = self.need
        if need is None:
            raise PermissionDenied("no grant allows this", reason="NOT_GRANTED")
        match need.reach:
            case Reach.EVERYTHING if not self.grants.everywhere:
                raise PermissionDenied(
                    "this needs a key with an admin grant for all workspaces (*), without a filter",
                    reason="NOT_GRANTED",
                )
            case Reach.WORKSPACE if need.action and not self.grants.anywhere(need.action):
                raise PermissionDenied(
                    f"this needs a key with a grant to {need.action.value}; this one has none in "
                    "any workspace",
                    reason="NOT_GRANTED",
                )

    def check_workspace(self, workspace: str) -> Grant:
        """Returns the grant that lets the call work in the workspace.

        NotFound, in the words for a workspace that is not there, where nothing is granted in it;
        PermissionDenied where something else is.
        """
        grant = self.grants.of(workspace)
        need = self.need
        shown = repr(workspace[:80])
        if grant is None and need is not None and need.creates:
            raise PermissionDenied(f"this key may not create {shown}", reason="NOT_GRANTED")
        if grant is None:
            raise unseen_workspace(workspace)
        if need is None or (need.action is not None and not grant.allows(need.action)):
            wanted = need.action.value if need is not None and need.action else "do this"
            raise PermissionDenied(
                f"this key may not {wanted} in workspace {shown}; granted: {grant.words}",
                reason="NOT_GRANTED",
            )
        if need.whole and grant.filter is not None:
            raise PermissionDenied(
                f"this key is for a part of the documents of workspace {shown}, and this "
                "concerns all of them",
                reason="NOT_GRANTED",
            )
        return grant


_current: ContextVar[CallAccess | None] = ContextVar("call_access", default=None)


def bind_access(access: CallAccess) -> None:
    """Makes this what the running task may do, in its name."""
    bind_identity(access.identity)
    _current.set(access)


def current_access() -> CallAccess | None:
    """Returns what the call being served may do; None where no door was passed."""
    return _current.get()


def require_workspace(workspace: str) -> None:
    """Checks a workspace that a body named; raises as `CallAccess.check_workspace` does."""
    access = _current.get()
    if access is not None:
        access.check_workspace(workspace)


def sees_workspace(workspace: str) -> bool:
    """Whether anything is granted in the workspace."""
    access = _current.get()
    return access is None or access.grants.of(workspace) is not None


def reads_workspace(workspace: str) -> bool:
    """Whether documents of the workspace may be read, or some of them."""
    access = _current.get()
    if access is None:
        return True
    grant = access.grants.of(workspace)
    return grant is not None and grant.allows(Action.READ)


def sees_installation() -> bool:
    """Whether the call may know how the mesh is built: addresses, and why a service is silent."""
    access = _current.get()
    return access is None or access.grants.everywhere


def mandatory_filter(workspace: str) -> Filter | None:
    """Returns what documents must fulfil to be there for this call; None for nothing.

    Raises as `CallAccess.check_workspace` does.
    """
    access = _current.get()
    return None if access is None else access.check_workspace(workspace).filter


def unseen_workspace(workspace: str) -> NotFound:
    """Returns the error for a workspace that is not there, or not for this caller."""
    return NotFound(f"there is no workspace {workspace[:80]!r}", reason=_WORKSPACE_NOT_FOUND)
