"""What the gateway claims towards the retriever: what the call it serves is granted, never more.

So a call that was admitted for one workspace and asks for another by mistake is refused by the
retriever.
"""

from __future__ import annotations

from gateway.access.call_access import current_access
from gateway.access.grants import EVERY_WORKSPACE, Action
from gateway.access.needs import Reach


def action_of_call(workspace: str) -> str:
    """Returns the action that the call being served may claim in a workspace, empty for none.

    Raises as `CallAccess.check_workspace` does. Lists of workspaces are read whole, and shown as
    far as they are granted.
    """
    access = current_access()
    if access is None or access.need is None:
        return ""
    if workspace == EVERY_WORKSPACE:
        return Action.READ.value
    if access.need.reach is not Reach.WORKSPACE:
        return ""
    access.check_workspace(workspace)
    return (access.need.action or Action.READ).value


def action_of_ingestion(_workspace: str) -> str:
    """Returns the action that the ingestion role claims: its callers are the mesh itself."""
    return Action.ADMIN.value
