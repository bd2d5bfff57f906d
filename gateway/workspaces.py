"""Workspaces and the vector spaces that hold their passages."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from gateway.fusion import Fusion


class DenseIndexKind(Enum):
    """Kinds of dense index."""

    AUTO = "auto"
    FLAT = "flat"
    HNSW = "hnsw"


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """Choices made for a workspace; an empty text lets the retriever choose its default.

    `language` is "fr", "en" or "auto"; `chunking_profile` is "structure", "sentences" or "words".
    With a `child_token_count` the blocks that the profile cuts are searched by parts of so many
    tokens; 0 leaves them whole.
    """

    language: str = ""
    chunking_profile: str = ""
    preset: str = ""
    dense_index_kind: DenseIndexKind = DenseIndexKind.AUTO
    fusion: Fusion = field(default_factory=Fusion)
    child_token_count: int = 0


@dataclass(frozen=True, slots=True)
class WorkspaceUpdate:
    """Other settings for a workspace; `reset_fusion` begins from the defaults.

    `chunking_profile` and `child_token_count` count for documents that come or are cut anew; None
    leaves them as they are.
    """

    slug: str
    fusion: Fusion = field(default_factory=Fusion)
    reset_fusion: bool = False
    chunking_profile: str | None = None
    child_token_count: int | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """One vector space of a workspace; `dimension` is the width of its vectors.

    A space is `resting`, and left out of searches, while the preferred one holds all its passages;
    the preferred space lacks `stray_passage_count` of them. `canary` is kept for the embedder,
    float32, little-endian; empty where none came yet.
    """

    space_id: str
    dimension: int
    passage_count: int
    active_index_kind: DenseIndexKind = DenseIndexKind.FLAT
    resting: bool = False
    stray_passage_count: int = 0
    canary: bytes = b""


@dataclass(frozen=True, slots=True)
class Workspace:
    """One workspace as the retriever describes it.

    `preferred_space_id` is empty before the first vector. `spaces_version` grows whenever the list
    of spaces, the preferred space or what rests changes, `applied_seq` with every change.
    """

    slug: str
    settings: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    document_count: int = 0
    passage_count: int = 0
    spaces: tuple[Space, ...] = ()
    preferred_space_id: str = ""
    spaces_version: int = 0
    create_time: datetime | None = None
    applied_seq: int = 0

    @property
    def awaiting_passage_count(self) -> int:
        """Passages that the preferred space lacks; all of them where there is none yet."""
        held = (s.passage_count for s in self.spaces if s.space_id == self.preferred_space_id)
        return self.passage_count - next(held, 0)

    @property
    def canaries(self) -> dict[str, bytes]:
        """Canaries by space id, where one is kept."""
        return {space.space_id: space.canary for space in self.spaces if space.canary}


@dataclass(frozen=True, slots=True)
class WorkspaceDeletion:
    """What went with a deleted workspace.

    `original_failure` says why kept files may still be there. `purge_within_s` are the seconds
    within which the bytes in store and indexes are gone; 0 where that is not promised.
    """

    document_count: int
    passage_count: int
    original_count: int = 0
    original_failure: str = ""
    purge_within_s: int = 0


@dataclass(frozen=True, slots=True)
class ImportedCounts:
    """What came with an imported workspace; vectors of all spaces, without windows."""

    document_count: int
    passage_count: int
    vector_count: int
