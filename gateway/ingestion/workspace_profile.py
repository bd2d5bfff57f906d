"""How documents of a workspace are cut, by its settings."""

from __future__ import annotations

from chassis.errors import FailedPrecondition
from gateway.ingestion.chunking.profiles import DEFAULT_PROFILE, PROFILES, ChunkingProfile
from gateway.workspaces import Workspace


def profile_of(workspace: Workspace) -> ChunkingProfile:
    """Returns how documents of a workspace are cut; FailedPrecondition where nobody knows how."""
    name = workspace.settings.chunking_profile or DEFAULT_PROFILE
    if name not in PROFILES:
        raise FailedPrecondition(
            f"workspace {workspace.slug} has the chunking profile {name!r}, which is not known "
            f"here; known are {', '.join(PROFILES)}",
            reason="PROFILE_UNKNOWN",
        )
    return PROFILES[name]


def cutting_of(workspace: Workspace) -> str:
    """Names how documents are cut: the profile, and the tokens of the parts of its blocks."""
    name = workspace.settings.chunking_profile or DEFAULT_PROFILE
    children = workspace.settings.child_token_count
    return f"{name}/{children}" if children else name
