"""Workspaces in JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, cast

from pydantic import BaseModel, Field

from gateway.http.models.values import RequestBody, UpperCase
from gateway.workspaces import (
    DenseIndexKind,
    Workspace,
    WorkspaceDeletion,
    WorkspaceSettings,
)

IndexKind = Annotated[Literal["AUTO", "FLAT", "HNSW"], UpperCase]


class WorkspaceSettingsBody(RequestBody):
    """Choices for a workspace; what is left empty takes its default."""

    language: str = Field(default="", description='"fr" (default), "en" or "auto"')
    chunking_profile: str = Field(
        default="", description='"structure" (default), "sentences" or "words"'
    )
    preset: str = Field(default="", description='"default" if empty')
    dense_index_kind: IndexKind = "AUTO"

    def settings(self) -> WorkspaceSettings:
        """Returns the settings."""
        return WorkspaceSettings(
            self.language,
            self.chunking_profile,
            self.preset,
            DenseIndexKind[self.dense_index_kind],
        )


class CreateWorkspaceBody(RequestBody):
    """A workspace to create."""

    slug: str = Field(description="lower-case letters, digits and hyphens, at most 63")
    settings: WorkspaceSettingsBody = WorkspaceSettingsBody()


class SpaceBody(BaseModel):
    """One vector space of a workspace."""

    space_id: str
    dimension: int
    passage_count: int
    active_index_kind: str


class WorkspaceBody(BaseModel):
    """One workspace."""

    slug: str
    settings: WorkspaceSettingsBody
    document_count: int
    passage_count: int
    spaces: list[SpaceBody]
    preferred_space_id: str
    spaces_version: int
    create_time: datetime | None = None
    applied_seq: int


class WorkspacesBody(BaseModel):
    """All workspaces by slug."""

    workspaces: list[WorkspaceBody]


class WorkspaceDeletionBody(BaseModel):
    """What went with a workspace."""

    document_count: int
    passage_count: int


def to_workspace_body(workspace: Workspace) -> WorkspaceBody:
    """Writes a workspace."""
    settings = workspace.settings
    return WorkspaceBody(
        slug=workspace.slug,
        settings=WorkspaceSettingsBody(
            language=settings.language,
            chunking_profile=settings.chunking_profile,
            preset=settings.preset,
            dense_index_kind=cast(IndexKind, settings.dense_index_kind.name),
        ),
        document_count=workspace.document_count,
        passage_count=workspace.passage_count,
        spaces=[
            SpaceBody(
                space_id=space.space_id,
                dimension=space.dimension,
                passage_count=space.passage_count,
                active_index_kind=space.active_index_kind.name,
            )
            for space in workspace.spaces
        ],
        preferred_space_id=workspace.preferred_space_id,
        spaces_version=workspace.spaces_version,
        create_time=workspace.create_time,
        applied_seq=workspace.applied_seq,
    )


def to_workspace_deletion_body(deletion: WorkspaceDeletion) -> WorkspaceDeletionBody:
    """Writes what went with a workspace."""
    return WorkspaceDeletionBody(
        document_count=deletion.document_count, passage_count=deletion.passage_count
    )
