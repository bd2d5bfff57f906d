"""Workspaces in JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, cast

from pydantic import BaseModel, Field, StrictInt

from gateway.http.models.fusion import FusionBody, to_fusion_body
from gateway.http.models.values import RequestBody, UpperCase
from gateway.workspaces import (
    DenseIndexKind,
    Workspace,
    WorkspaceDeletion,
    WorkspaceSettings,
    WorkspaceUpdate,
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
    fusion: FusionBody = FusionBody()
    child_token_count: StrictInt = Field(
        default=0, description="tokens of the parts that are searched, 32 to 400; 0 = no parts"
    )

    def settings(self) -> WorkspaceSettings:
        """Returns the settings."""
        return WorkspaceSettings(
            self.language,
            self.chunking_profile,
            self.preset,
            DenseIndexKind[self.dense_index_kind],
            self.fusion.fusion(),
            self.child_token_count,
        )


class CreateWorkspaceBody(RequestBody):
    """A workspace to create."""

    slug: str = Field(description="lower-case letters, digits and hyphens, at most 63")
    settings: WorkspaceSettingsBody = WorkspaceSettingsBody()


class UpdateWorkspaceBody(RequestBody):
    """Other settings for a workspace; what is absent stays as it is."""

    fusion: FusionBody = FusionBody()
    reset_fusion: bool = Field(
        default=False, description="takes all fusion settings to their defaults first"
    )
    chunking_profile: str | None = Field(
        default=None,
        description='"structure", "sentences" or "words", for documents that come or are cut anew',
    )
    child_token_count: StrictInt | None = Field(
        default=None,
        description="parts that are searched of what the profile cuts, 0 (whole) or 32 to 400 "
        "tokens, for documents that come or are cut anew",
    )

    def update(self, slug: str) -> WorkspaceUpdate:
        """Returns the update of the workspace with this slug."""
        return WorkspaceUpdate(
            slug,
            self.fusion.fusion(),
            self.reset_fusion,
            self.chunking_profile,
            self.child_token_count,
        )


class SpaceBody(BaseModel):
    """One vector space of a workspace.

    A resting space is left out of searches: the preferred one holds all of its passages. The
    preferred space lacks `stray_passage_count` of them.
    """

    space_id: str
    dimension: int
    passage_count: int
    active_index_kind: str
    resting: bool
    stray_passage_count: int


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
    """What went with a workspace.

    `original_failure` says why kept files may still be there; empty if none is. `purge_within_s`:
    the seconds within which the bytes in store and indexes are gone; 0 where not promised.
    """

    document_count: int
    passage_count: int
    original_count: int
    original_failure: str
    purge_within_s: int


def to_workspace_body(workspace: Workspace) -> WorkspaceBody:
    """Writes a workspace."""
    settings = workspace.settings
    return WorkspaceBody(
        slug=workspace.slug,
        settings=WorkspaceSettingsBody(
            language=settings.language,
            chunking_profile=settings.chunking_profile,
            child_token_count=settings.child_token_count,
            preset=settings.preset,
            dense_index_kind=cast(IndexKind, settings.dense_index_kind.name),
            fusion=to_fusion_body(settings.fusion),
        ),
        document_count=workspace.document_count,
        passage_count=workspace.passage_count,
        spaces=[
            SpaceBody(
                space_id=space.space_id,
                dimension=space.dimension,
                passage_count=space.passage_count,
                active_index_kind=space.active_index_kind.name,
                resting=space.resting,
                stray_passage_count=space.stray_passage_count,
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
        document_count=deletion.document_count,
        passage_count=deletion.passage_count,
        original_count=deletion.original_count,
        original_failure=deletion.original_failure,
        purge_within_s=deletion.purge_within_s,
    )
