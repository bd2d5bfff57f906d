"""Workspaces to and from messages of the gateway."""

from __future__ import annotations

from chassis.errors import InvalidArgument
from gateway.wire.fusion import fusion_from, write_fusion
from gateway.wire.moments import to_timestamp
from gateway.workspaces import (
    DenseIndexKind,
    Space,
    Workspace,
    WorkspaceDeletion,
    WorkspaceSettings,
    WorkspaceUpdate,
)
from justesse.gateway.v1 import workspaces_pb2

_INDEX_KINDS = {
    DenseIndexKind.AUTO: workspaces_pb2.DENSE_INDEX_KIND_AUTO,
    DenseIndexKind.FLAT: workspaces_pb2.DENSE_INDEX_KIND_FLAT,
    DenseIndexKind.HNSW: workspaces_pb2.DENSE_INDEX_KIND_HNSW,
}
_INDEX_KINDS_BY_NUMBER = {
    workspaces_pb2.DENSE_INDEX_KIND_UNSPECIFIED: DenseIndexKind.AUTO,
    **{number: kind for kind, number in _INDEX_KINDS.items()},
}


def workspace_settings_from(message: workspaces_pb2.WorkspaceSettings) -> WorkspaceSettings:
    """Reads the choices for a workspace; InvalidArgument for an unknown kind of index."""
    kind = _INDEX_KINDS_BY_NUMBER.get(message.dense_index_kind)
    if kind is None:
        raise InvalidArgument(
            f"settings.dense_index_kind {message.dense_index_kind} is unknown; use auto, flat or "
            "hnsw",
            field="settings.dense_index_kind",
        )
    return WorkspaceSettings(
        language=message.language,
        chunking_profile=message.chunking_profile,
        preset=message.preset,
        dense_index_kind=kind,
        fusion=fusion_from(message.fusion),
        child_token_count=message.child_token_count,
    )


def workspace_update_from(message: workspaces_pb2.UpdateWorkspaceRequest) -> WorkspaceUpdate:
    """Reads other settings for a workspace."""
    return WorkspaceUpdate(
        message.slug,
        fusion_from(message.fusion),
        message.reset_fusion,
        message.chunking_profile if message.HasField("chunking_profile") else None,
        message.child_token_count if message.HasField("child_token_count") else None,
    )


def to_workspace(workspace: Workspace) -> workspaces_pb2.Workspace:
    """Writes a workspace."""
    written = workspaces_pb2.Workspace(
        slug=workspace.slug,
        settings=workspaces_pb2.WorkspaceSettings(
            language=workspace.settings.language,
            chunking_profile=workspace.settings.chunking_profile,
            preset=workspace.settings.preset,
            dense_index_kind=_INDEX_KINDS[workspace.settings.dense_index_kind],
            child_token_count=workspace.settings.child_token_count,
        ),
        document_count=workspace.document_count,
        passage_count=workspace.passage_count,
        spaces=map(_to_space, workspace.spaces),
        preferred_space_id=workspace.preferred_space_id,
        spaces_version=workspace.spaces_version,
        create_time=to_timestamp(workspace.create_time),
        applied_seq=workspace.applied_seq,
    )
    write_fusion(written.settings.fusion, workspace.settings.fusion)
    return written


def to_deletion(deletion: WorkspaceDeletion) -> workspaces_pb2.DeleteWorkspaceResponse:
    """Writes what went with a workspace."""
    return workspaces_pb2.DeleteWorkspaceResponse(
        document_count=deletion.document_count,
        passage_count=deletion.passage_count,
        original_count=deletion.original_count,
        original_failure=deletion.original_failure,
        purge_within_s=deletion.purge_within_s,
    )


def _to_space(space: Space) -> workspaces_pb2.Space:
    return workspaces_pb2.Space(
        space_id=space.space_id,
        dimension=space.dimension,
        passage_count=space.passage_count,
        active_index_kind=_INDEX_KINDS[space.active_index_kind],
        resting=space.resting,
        stray_passage_count=space.stray_passage_count,
    )
