"""Workspaces: the borders that no document and no search crosses."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from justesse.client.fusion import Fusion, fusion_from, fusion_message
from justesse.client.metadata import moment_from
from justesse.gateway.v1 import workspaces_pb2


class DenseIndexKind(StrEnum):
    """Kind of a dense index."""

    AUTO = "auto"
    """Exact while small, graph when large."""
    FLAT = "flat"
    HNSW = "hnsw"
    UNKNOWN = "unknown"
    """A kind that is newer than this client."""


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """The choices made for a workspace; an empty one takes the service's default."""

    language: str = ""
    """"fr", "en" or "auto"."""
    chunking_profile: str = ""
    """"structure", "sentences" or "words"."""
    preset: str = ""
    dense_index_kind: DenseIndexKind = DenseIndexKind.AUTO
    fusion: Fusion = field(default_factory=Fusion)
    """How ranked lists are fused where a search does not say otherwise."""
    child_token_count: int = 0
    """Tokens of the parts that blocks are cut into and searched by, 32 to 400; 0: no parts."""


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space that holds passages of a workspace."""

    space_id: str
    dimension: int
    passage_count: int
    active_index_kind: DenseIndexKind
    resting: bool = False
    """Every passage in it has a vector in the preferred space too: searches leave it out."""
    stray_passage_count: int = 0
    """Passages in it that the preferred space lacks."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace as it is now."""

    slug: str
    settings: WorkspaceSettings
    document_count: int
    passage_count: int
    spaces: tuple[Space, ...]
    preferred_space_id: str
    """Empty before the first vector."""
    spaces_version: int
    create_time: datetime | None
    applied_seq: int
    """Number of the last change applied; grows with every change."""


@dataclass(frozen=True, slots=True)
class DeletedWorkspace:
    """What went with a workspace."""

    document_count: int
    passage_count: int
    original_count: int = 0
    """Kept files that were deleted."""
    original_failure: str = ""
    """Why kept files may still be there; empty if none is. `delete_originals` tries again."""
    purge_within_s: int = 0
    """Seconds within which its bytes leave all files; 0 where that is not promised."""


_INDEX_KINDS = {
    workspaces_pb2.DENSE_INDEX_KIND_UNSPECIFIED: DenseIndexKind.AUTO,
    workspaces_pb2.DENSE_INDEX_KIND_AUTO: DenseIndexKind.AUTO,
    workspaces_pb2.DENSE_INDEX_KIND_FLAT: DenseIndexKind.FLAT,
    workspaces_pb2.DENSE_INDEX_KIND_HNSW: DenseIndexKind.HNSW,
}
_INDEX_KIND_NUMBERS = {
    DenseIndexKind.AUTO: workspaces_pb2.DENSE_INDEX_KIND_AUTO,
    DenseIndexKind.FLAT: workspaces_pb2.DENSE_INDEX_KIND_FLAT,
    DenseIndexKind.HNSW: workspaces_pb2.DENSE_INDEX_KIND_HNSW,
}


def settings_message(settings: WorkspaceSettings) -> workspaces_pb2.WorkspaceSettings:
    """Encodes the choices for a new workspace; ValueError for the index kind UNKNOWN."""
    if settings.dense_index_kind not in _INDEX_KIND_NUMBERS:
        raise ValueError("dense_index_kind: choose AUTO, FLAT or HNSW")
    return workspaces_pb2.WorkspaceSettings(
        language=settings.language,
        chunking_profile=settings.chunking_profile,
        preset=settings.preset,
        dense_index_kind=_INDEX_KIND_NUMBERS[settings.dense_index_kind],
        fusion=fusion_message(settings.fusion) if settings.fusion != Fusion() else None,
        child_token_count=settings.child_token_count,
    )


def workspace_from(message: workspaces_pb2.Workspace) -> Workspace:
    """Decodes a workspace."""
    return Workspace(
        slug=message.slug,
        settings=WorkspaceSettings(
            language=message.settings.language,
            chunking_profile=message.settings.chunking_profile,
            preset=message.settings.preset,
            dense_index_kind=_index_kind_from(message.settings.dense_index_kind),
            fusion=fusion_from(message.settings.fusion),
            child_token_count=message.settings.child_token_count,
        ),
        document_count=message.document_count,
        passage_count=message.passage_count,
        spaces=tuple(
            Space(
                space_id=space.space_id,
                dimension=space.dimension,
                passage_count=space.passage_count,
                active_index_kind=_index_kind_from(space.active_index_kind),
                resting=space.resting,
                stray_passage_count=space.stray_passage_count,
            )
            for space in message.spaces
        ),
        preferred_space_id=message.preferred_space_id,
        spaces_version=message.spaces_version,
        create_time=moment_from(message.create_time) if message.HasField("create_time") else None,
        applied_seq=message.applied_seq,
    )


def _index_kind_from(number: workspaces_pb2.DenseIndexKind.ValueType) -> DenseIndexKind:
    return _INDEX_KINDS.get(number, DenseIndexKind.UNKNOWN)
