"""What a committed change means for the derived indexes."""

from dataclasses import dataclass
from typing import TypeAlias

from retriever_svc.store.document_change import DocumentChange
from retriever_svc.store.rows import WorkspaceRow


@dataclass(frozen=True, slots=True)
class WorkspaceCreated:
    """A workspace is there now."""

    workspace: WorkspaceRow


@dataclass(frozen=True, slots=True)
class WorkspaceUpdated:
    """A workspace has other settings; what it holds is as before."""

    workspace: WorkspaceRow


@dataclass(frozen=True, slots=True)
class WorkspaceDeleted:
    """A workspace is gone."""

    workspace: WorkspaceRow
    """The workspace as it was."""


Change: TypeAlias = DocumentChange | WorkspaceCreated | WorkspaceUpdated | WorkspaceDeleted
