"""Describes workspaces as they are stored."""

from retriever_svc.store.rows import WorkspaceRow
from retriever_svc.workspaces import Space, Workspace


def described(row: WorkspaceRow, spaces: tuple[Space, ...] = ()) -> Workspace:
    """Describes a workspace as stored."""
    return Workspace(
        slug=row.slug,
        settings=row.settings,
        document_count=row.document_count,
        passage_count=row.passage_count,
        spaces=spaces,
        preferred_space_id=row.preferred_space_id,
        spaces_version=row.spaces_version,
        created_at=row.created_at,
        applied_seq=row.seq,
    )
