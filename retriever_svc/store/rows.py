"""What a store holds, as it is read."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from chassis.errors import AlreadyExists, NotFound
from retriever_svc.documents import Document, Passage
from retriever_svc.workspaces import WorkspaceSettings


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """Describes a vector space of a workspace as stored; `key` is its internal id."""

    key: int
    space_id: str
    dimension: int
    passage_count: int
    windowed: bool
    """The windows of at least one passage came, though it may have none."""
    stray_count: int = 0
    """Passages in it that the preferred space lacks; 0 for the preferred space itself."""
    canary: bytes = b""
    """Vector of the embedder's fixed text, as vectors are stored; empty where none came yet."""


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """Describes a workspace as stored after change number `seq`."""

    id: int
    slug: str
    settings: WorkspaceSettings
    preferred_space_id: str
    spaces_version: int
    document_count: int
    passage_count: int
    seq: int
    created_at: datetime
    spaces: tuple[SpaceRow, ...]

    def space(self, space_id: str) -> SpaceRow | None:
        """Returns a space of the workspace by its id."""
        return next((space for space in self.spaces if space.space_id == space_id), None)


class DocumentRow(NamedTuple):
    """Holds a document as stored."""

    id: int
    document: Document
    passage_count: int
    updated_at: datetime


class PassageRow(NamedTuple):
    """Holds a passage as stored."""

    id: int
    document_id: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class LexicalEntry:
    """Holds what the BM25 index takes of a passage: its text and what its document says of it."""

    passage_id: int
    language: str
    title: str
    heading_path: tuple[str, ...]
    keywords: tuple[str, ...]
    text: str


def rests(space: SpaceRow, preferred_space_id: str) -> bool:
    """Whether searches leave the space out: the preferred one holds all of its passages too."""
    return space.space_id != preferred_space_id and not space.stray_count


def no_such_workspace(slug: str) -> NotFound:
    """Returns the error for a workspace that is not there."""
    return NotFound(f"there is no workspace {slug!r}", reason="WORKSPACE_NOT_FOUND")


def slug_taken(slug: str) -> AlreadyExists:
    """Returns the error for a slug that another workspace has."""
    return AlreadyExists(
        f"workspace {slug!r} exists; use it, delete it, or choose another slug",
        reason="WORKSPACE_EXISTS",
    )
