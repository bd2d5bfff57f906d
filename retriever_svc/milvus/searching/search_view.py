"""What one search looks at: a workspace as it was when the search began."""

from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import Connection

from retriever_svc.lexical_terms import languages_of, query_terms
from retriever_svc.milvus.clients.milvus_connection import MilvusConnection
from retriever_svc.milvus.collections.workspace_collections import WorkspaceCollections
from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.milvus.searching.side_by_side import SideBySide
from retriever_svc.store.rows import SpaceRow, WorkspaceRow, rests
from retriever_svc.workspaces import DenseIndexKind, Space


@dataclass(frozen=True, slots=True)
class SearchView:
    """Holds a snapshot of the store, and the way to the collections."""

    row: WorkspaceRow
    store: Connection
    """Reads the state that `row` is of."""
    milvus: MilvusConnection
    collections: WorkspaceCollections
    settings: MilvusSettings
    side_by_side: SideBySide
    reading: Lock = field(default_factory=Lock)
    """Held by whoever reads the store while lists are made."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages a query is analysed in, the likeliest first."""
        return languages_of(self.row.settings.language)

    @property
    def exact(self) -> bool:
        """Whether lists of spaces are exact at any size."""
        return self.row.settings.dense_index_kind is DenseIndexKind.FLAT

    @property
    def boosts(self) -> dict[str, float]:
        """Weights of the parts of a passage that count."""
        settings = self.settings
        weights = {
            "title": settings.title_boost,
            "keywords": settings.keywords_boost,
            "body": settings.body_boost,
        }
        return {part: weight for part, weight in weights.items() if weight > 0}

    @property
    def terms_name(self) -> str:
        """The collection of the workspace's terms."""
        return self.collections.terms_name(self.row.id)

    def vectors_name(self, space: SpaceRow) -> str:
        """The collection of a space's vectors."""
        return self.collections.vectors_name(space.key)

    def terms_of(self, text: str) -> dict[str, tuple[str, ...]]:
        """Returns the different terms of a query by language, in order."""
        return {language: tuple(query_terms(text, language)) for language in self.languages}

    def spaces(self) -> tuple[Space, ...]:
        """Describes the spaces."""
        return described_spaces(self.row)


def described_spaces(row: WorkspaceRow) -> tuple[Space, ...]:
    """Describes the spaces of a workspace."""
    exact = row.settings.dense_index_kind is DenseIndexKind.FLAT
    return tuple(
        Space(
            space.space_id,
            space.dimension,
            space.passage_count,
            DenseIndexKind.FLAT if exact else DenseIndexKind.HNSW,
            rests(space, row.preferred_space_id),
            space.stray_count,
            space.canary,
        )
        for space in row.spaces
    )
