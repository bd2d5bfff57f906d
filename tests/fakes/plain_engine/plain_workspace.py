"""What a plain workspace holds, and how it is described."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from chassis.errors import NotFound
from retriever_svc.documents import Document, FloatMatrix, Passage
from retriever_svc.workspaces import (
    DenseIndexKind,
    Space,
    Workspace,
    WorkspaceLanguage,
    WorkspaceSettings,
)


@dataclass(slots=True)
class PlainVector:
    """Holds the unit vector of a passage in a space, and its windows; None where awaited.

    It is `sliced` where it is a mean of slices.
    """

    vector: npt.NDArray[np.float32]
    windows: FloatMatrix | None = None
    sliced: bool = False


@dataclass(slots=True)
class PlainPassage:
    """Holds a passage with its vectors by space."""

    passage_id: int
    external_id: str
    passage: Passage
    vectors: dict[str, PlainVector] = field(default_factory=dict)


@dataclass(slots=True)
class PlainDocument:
    """Holds a document; its passages are in order."""

    document: Document
    updated_at: datetime
    passage_ids: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PlainSpace:
    """Holds what belongs to a space as a whole."""

    dimension: int
    canary: bytes = b""


@dataclass(slots=True)
class PlainWorkspace:
    """Holds all of a workspace; passages by growing id, spaces in the order they came."""

    slug: str
    settings: WorkspaceSettings
    created_at: datetime
    documents: dict[str, PlainDocument] = field(default_factory=dict)
    passages: dict[int, PlainPassage] = field(default_factory=dict)
    spaces: dict[str, PlainSpace] = field(default_factory=dict)
    preferred_space_id: str = ""
    spaces_version: int = 0
    seq: int = 0

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages a query is analysed in."""
        language = self.settings.language
        return ("fr", "en") if language is WorkspaceLanguage.AUTO else (language.value,)

    def document(self, external_id: str) -> PlainDocument:
        """Returns a document. Raises NotFound."""
        if external_id not in self.documents:
            raise NotFound(f"no document {external_id!r} in workspace {self.slug!r}")
        return self.documents[external_id]

    def passages_of(self, external_id: str) -> list[PlainPassage]:
        """Returns the passages of a document in order."""
        return [self.passages[one] for one in self.documents[external_id].passage_ids]

    def holders(self, space_id: str) -> set[int]:
        """Returns the passages that have a vector in the space."""
        return {one.passage_id for one in self.passages.values() if space_id in one.vectors}

    def spaces_of(self, passage: PlainPassage) -> tuple[str, ...]:
        """Returns the spaces that hold a vector of the passage."""
        return tuple(space_id for space_id in self.spaces if space_id in passage.vectors)

    def sliced_spaces_of(self, passage: PlainPassage) -> tuple[str, ...]:
        """Returns those spaces whose vector of the passage is a mean of slices."""
        held = passage.vectors
        return tuple(one for one in self.spaces_of(passage) if held[one].sliced)

    def strays(self, space_id: str) -> int:
        """Counts the passages of a space that the preferred one lacks."""
        return len(self.holders(space_id) - self.holders(self.preferred_space_id))

    def described_spaces(self) -> tuple[Space, ...]:
        """Describes the spaces."""
        return tuple(
            Space(
                space_id,
                space.dimension,
                len(self.holders(space_id)),
                DenseIndexKind.FLAT,
                space_id != self.preferred_space_id and not self.strays(space_id),
                self.strays(space_id),
                space.canary,
            )
            for space_id, space in self.spaces.items()
        )

    def described(self) -> Workspace:
        """Describes the workspace."""
        return Workspace(
            self.slug,
            self.settings,
            len(self.documents),
            len(self.passages),
            self.described_spaces(),
            self.preferred_space_id,
            self.spaces_version,
            self.created_at,
            self.seq,
        )


def read_form(passage: Passage) -> Passage:
    """Returns a passage as it is read: its block is asked for apart."""
    return replace(passage, parent=None)
