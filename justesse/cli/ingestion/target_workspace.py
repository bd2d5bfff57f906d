"""The workspace that files go to: found, or created where that is wished."""

from justesse.client import AsyncJustesse, NotFoundError, WorkspaceSettings


async def prepare_workspace(
    justesse: AsyncJustesse, workspace: str, creation: WorkspaceSettings | None
) -> None:
    """Creates the workspace with the settings given if there is none; NotFoundError without."""
    # One clear error for a workspace that is not there, instead of one for each file.
    if creation is None:
        await _find_workspace(justesse, workspace)
    else:
        await ensure_workspace(justesse, workspace, creation)


async def ensure_workspace(
    justesse: AsyncJustesse, workspace: str, settings: WorkspaceSettings
) -> None:
    """Creates the workspace if there is none of that name."""
    try:
        await justesse.describe_workspace(workspace)
    except NotFoundError:
        await justesse.create_workspace(workspace, settings)


async def _find_workspace(justesse: AsyncJustesse, workspace: str) -> None:
    try:
        await justesse.describe_workspace(workspace)
    except NotFoundError as error:
        raise NotFoundError(
            f"{error.message}; --create makes it",
            status=error.status,
            reason=error.reason,
            request_id=error.request_id,
        ) from error
