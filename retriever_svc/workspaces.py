"""Workspaces: the borders that no document and no search crosses."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from retriever_svc.fusion_settings import FusionChoices, FusionSettings


class WorkspaceLanguage(StrEnum):
    """Names how documents and queries of a workspace are analysed."""

    FRENCH = "fr"
    ENGLISH = "en"
    AUTO = "auto"
    """Each document in its own language; a query is analysed in both."""


class ChunkingProfile(StrEnum):
    """Names how the documents of a workspace are cut into passages."""

    STRUCTURE = "structure"
    SENTENCES = "sentences"
    WORDS = "words"


class DenseIndexKind(StrEnum):
    """Names a kind of dense index."""

    AUTO = "auto"
    """Exact while small, graph when large."""
    FLAT = "flat"
    """Exact at any size."""
    HNSW = "hnsw"
    """Graph as soon as there are enough rows to seal a segment."""


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """Holds the choices made for a workspace."""

    language: WorkspaceLanguage = WorkspaceLanguage.FRENCH
    chunking_profile: ChunkingProfile = ChunkingProfile.STRUCTURE
    preset: str = "default"
    dense_index_kind: DenseIndexKind = DenseIndexKind.AUTO
    fusion: FusionSettings = field(default_factory=FusionSettings)
    child_token_count: int = 0
    """Estimated tokens of the parts that blocks are cut into; 0 leaves them whole."""


@dataclass(frozen=True, slots=True)
class WorkspaceUpdate:
    """Asks for other settings of a workspace."""

    slug: str
    fusion: FusionChoices = field(default_factory=FusionChoices)
    reset_fusion: bool = False
    """Begins from the defaults instead of the present settings."""
    chunking_profile: ChunkingProfile | None = None
    """None leaves it as it is."""
    child_token_count: int | None = None
    """None leaves it as it is."""

    def applied_to(self, settings: WorkspaceSettings) -> WorkspaceSettings:
        """Returns the settings as they are afterwards."""
        before = FusionSettings() if self.reset_fusion else settings.fusion
        return replace(
            settings,
            fusion=before.changed_by(self.fusion),
            chunking_profile=self.chunking_profile or settings.chunking_profile,
            child_token_count=(
                settings.child_token_count
                if self.child_token_count is None
                else self.child_token_count
            ),
        )


@dataclass(frozen=True, slots=True)
class Space:
    """Describes one vector space of a workspace."""

    space_id: str
    dimension: int
    passage_count: int
    active_index_kind: DenseIndexKind
    """FLAT or HNSW: the index that answers now."""
    resting: bool = False
    """Every passage in it has a vector in the preferred space too: searches leave it out."""
    stray_count: int = 0
    """Passages in it that the preferred space lacks."""
    canary: bytes = b""
    """Vector of the embedder's fixed text, float32, little-endian; empty where none came yet."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Describes a workspace as searches see it."""

    slug: str
    settings: WorkspaceSettings
    document_count: int
    passage_count: int
    spaces: tuple[Space, ...]
    preferred_space_id: str
    """Empty before the first vector."""
    spaces_version: int
    """Grows whenever the list of spaces, the preferred space or what rests changes."""
    created_at: datetime
    applied_seq: int
    """Number of the last change applied; grows with every change, 0 for a new workspace."""


@dataclass(frozen=True, slots=True)
class WorkspaceRemoval:
    """Says what went with a deleted workspace."""

    document_count: int
    passage_count: int
    purge_within_s: int = 0
    """Seconds within which its bytes leave all files; 0 where that is not promised."""
