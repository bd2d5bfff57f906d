"""Workspaces and their spaces."""

import re
from enum import StrEnum
from typing import TypeVar

from chassis.errors import InvalidArgument
from justesse.retriever.v1 import workspaces_pb2
from retriever_svc.fusion_settings import FusionSettings
from retriever_svc.wire.fusion_settings import fusion_choices_from, fusion_message
from retriever_svc.wire.moments import timestamp_from
from retriever_svc.workspaces import (
    ChunkingProfile,
    DenseIndexKind,
    Space,
    Workspace,
    WorkspaceLanguage,
    WorkspaceRemoval,
    WorkspaceSettings,
    WorkspaceUpdate,
)

_LEAST_CHILD, _MOST_CHILD = 32, 400
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_KINDS = {
    workspaces_pb2.DENSE_INDEX_KIND_UNSPECIFIED: DenseIndexKind.AUTO,
    workspaces_pb2.DENSE_INDEX_KIND_AUTO: DenseIndexKind.AUTO,
    workspaces_pb2.DENSE_INDEX_KIND_FLAT: DenseIndexKind.FLAT,
    workspaces_pb2.DENSE_INDEX_KIND_HNSW: DenseIndexKind.HNSW,
}
_KIND_MESSAGES = {
    DenseIndexKind.AUTO: workspaces_pb2.DENSE_INDEX_KIND_AUTO,
    DenseIndexKind.FLAT: workspaces_pb2.DENSE_INDEX_KIND_FLAT,
    DenseIndexKind.HNSW: workspaces_pb2.DENSE_INDEX_KIND_HNSW,
}
Choice = TypeVar("Choice", bound=StrEnum)


def new_slug_from(message: workspaces_pb2.CreateWorkspaceRequest) -> str:
    """Returns the slug of a workspace to be created. Raises InvalidArgument."""
    return checked_slug(message.slug, "slug")


def checked_slug(slug: str, field: str) -> str:
    """Returns a slug that a workspace may have. Raises InvalidArgument."""
    if not _SLUG.fullmatch(slug):
        raise InvalidArgument(
            f"{field} is {slug[:100]!r}; expected 1 to 63 lower-case letters, digits and "
            "hyphens, the first no hyphen",
            field=field,
        )
    return slug


def settings_from(message: workspaces_pb2.CreateWorkspaceRequest) -> WorkspaceSettings:
    """Returns the settings; what is not set takes its default. Raises InvalidArgument."""
    given = message.settings
    kind = _KINDS.get(given.dense_index_kind)
    if kind is None:
        raise InvalidArgument(
            f"settings.dense_index_kind {given.dense_index_kind} is not known",
            field="settings.dense_index_kind",
        )
    preset = given.preset or "default"
    if not _SLUG.fullmatch(preset):
        raise InvalidArgument(
            f"settings.preset is {preset[:100]!r}; expected lower-case letters, digits, hyphens",
            field="settings.preset",
        )
    return WorkspaceSettings(
        language=_choice(WorkspaceLanguage, given.language or "fr", "settings.language"),
        chunking_profile=_choice(
            ChunkingProfile, given.chunking_profile or "structure", "settings.chunking_profile"
        ),
        preset=preset,
        dense_index_kind=kind,
        fusion=FusionSettings().changed_by(fusion_choices_from(given.fusion, "settings.fusion")),
        child_token_count=_child_token_count_from(
            given.child_token_count, "settings.child_token_count"
        ),
    )


def _child_token_count_from(count: int, field: str) -> int:
    if count and not _LEAST_CHILD <= count <= _MOST_CHILD:
        raise InvalidArgument(
            f"{field} is {count}; expected 0, or {_LEAST_CHILD} to {_MOST_CHILD}",
            field=field,
        )
    return count


def update_from(message: workspaces_pb2.UpdateWorkspaceRequest) -> WorkspaceUpdate:
    """Returns the update. Raises InvalidArgument."""
    return WorkspaceUpdate(
        message.slug,
        fusion_choices_from(message.fusion, "fusion"),
        message.reset_fusion,
        _choice(ChunkingProfile, message.chunking_profile, "chunking_profile")
        if message.HasField("chunking_profile")
        else None,
        _child_token_count_from(message.child_token_count, "child_token_count")
        if message.HasField("child_token_count")
        else None,
    )


def workspace_message(workspace: Workspace) -> workspaces_pb2.Workspace:
    """Returns the message of a workspace."""
    return workspaces_pb2.Workspace(
        slug=workspace.slug,
        settings=settings_message(workspace.settings),
        document_count=workspace.document_count,
        passage_count=workspace.passage_count,
        spaces=[space_message(space) for space in workspace.spaces],
        preferred_space_id=workspace.preferred_space_id,
        spaces_version=workspace.spaces_version,
        create_time=timestamp_from(workspace.created_at),
        applied_seq=workspace.applied_seq,
    )


def settings_message(settings: WorkspaceSettings) -> workspaces_pb2.WorkspaceSettings:
    """Returns the message of settings, every value set."""
    return workspaces_pb2.WorkspaceSettings(
        language=settings.language,
        chunking_profile=settings.chunking_profile,
        preset=settings.preset,
        dense_index_kind=_KIND_MESSAGES[settings.dense_index_kind],
        fusion=fusion_message(settings.fusion),
        child_token_count=settings.child_token_count,
    )


def space_message(space: Space) -> workspaces_pb2.Space:
    """Returns the message of a space."""
    return workspaces_pb2.Space(
        space_id=space.space_id,
        dimension=space.dimension,
        passage_count=space.passage_count,
        active_index_kind=_KIND_MESSAGES[space.active_index_kind],
        resting=space.resting,
        stray_passage_count=space.stray_count,
        canary_vector=space.canary or None,
    )


def workspace_removal_response(
    removal: WorkspaceRemoval,
) -> workspaces_pb2.DeleteWorkspaceResponse:
    """Returns the message of a removal."""
    return workspaces_pb2.DeleteWorkspaceResponse(
        document_count=removal.document_count,
        passage_count=removal.passage_count,
        purge_within_s=removal.purge_within_s,
    )


def _choice(choices: type[Choice], value: str, field: str) -> Choice:
    try:
        return choices(value)
    except ValueError as error:
        known = ", ".join(repr(str(choice)) for choice in choices)
        raise InvalidArgument(
            f"{field} is {value[:100]!r}; expected one of {known}", field=field
        ) from error
