"""Rows of workspaces and their spaces."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from chassis.errors import NotFound
from retriever_svc.milvus.store.layout import SPACES, VECTORS, WORKSPACES
from retriever_svc.store.json_columns import fusion_from_json, json_from_fusion
from retriever_svc.store.moments import microseconds_from, moment_from
from retriever_svc.store.rows import (
    SpaceRow,
    WorkspaceRow,
    no_such_workspace,
    slug_taken,
)
from retriever_svc.workspaces import (
    ChunkingProfile,
    DenseIndexKind,
    WorkspaceLanguage,
    WorkspaceSettings,
    WorkspaceUpdate,
)


def insert_workspace(
    connection: Connection, slug: str, settings: WorkspaceSettings, now: datetime
) -> WorkspaceRow:
    """Stores a new workspace. Raises AlreadyExists."""
    statement = insert(WORKSPACES).values(
        slug=slug,
        language=settings.language.value,
        chunking_profile=settings.chunking_profile.value,
        preset=settings.preset,
        dense_index_kind=settings.dense_index_kind.value,
        fusion=json_from_fusion(settings.fusion),
        child_token_count=settings.child_token_count,
        created_at=microseconds_from(now),
    )
    stored = connection.execute(statement.on_conflict_do_nothing().returning(WORKSPACES.c.id))
    if stored.first() is None:
        raise slug_taken(slug)
    return find_workspace(connection, slug)


def find_workspace(connection: Connection, slug: str, *, lock: bool = False) -> WorkspaceRow:
    """Reads a workspace by slug; with `lock` no other transaction changes it. Raises NotFound."""
    statement = select(WORKSPACES).where(WORKSPACES.c.slug == slug)
    row = connection.execute(statement.with_for_update() if lock else statement).first()
    if row is None:
        raise no_such_workspace(slug)
    return _workspace_from(row, _read_spaces(connection, [row.id]).get(row.id, ()))


def read_workspace(connection: Connection, workspace_id: int) -> WorkspaceRow:
    """Reads a workspace by internal id. Raises NotFound if it is deleted."""
    row = connection.execute(
        select(WORKSPACES).where(WORKSPACES.c.id == workspace_id, WORKSPACES.c.slug.is_not(None))
    ).first()
    if row is None:
        raise NotFound(f"workspace {workspace_id} is deleted", reason="WORKSPACE_NOT_FOUND")
    return _workspace_from(row, _read_spaces(connection, [row.id]).get(row.id, ()))


def read_workspaces(connection: Connection) -> list[WorkspaceRow]:
    """Reads all workspaces that are not deleted, by slug."""
    rows = connection.execute(
        select(WORKSPACES).where(WORKSPACES.c.slug.is_not(None)).order_by(WORKSPACES.c.slug)
    ).all()
    spaces = _read_spaces(connection, [row.id for row in rows])
    return [_workspace_from(row, spaces.get(row.id, ())) for row in rows]


def update_workspace(
    connection: Connection,
    workspace_id: int,
    *,
    seq: int,
    document_count: int,
    passage_count: int,
    preferred_space_id: str,
    spaces_version: int,
) -> None:
    """Stores what a change made of a workspace."""
    connection.execute(
        update(WORKSPACES)
        .where(WORKSPACES.c.id == workspace_id)
        .values(
            seq=seq,
            document_count=document_count,
            passage_count=passage_count,
            preferred_space_id=preferred_space_id,
            spaces_version=spaces_version,
        )
    )


def change_settings(connection: Connection, changed: WorkspaceUpdate) -> None:
    """Stores other settings of a workspace. Raises NotFound."""
    workspace = find_workspace(connection, changed.slug, lock=True)
    settings = changed.applied_to(workspace.settings)
    connection.execute(
        update(WORKSPACES)
        .where(WORKSPACES.c.id == workspace.id)
        .values(
            fusion=json_from_fusion(settings.fusion),
            chunking_profile=settings.chunking_profile.value,
            child_token_count=settings.child_token_count,
        )
    )


def rename_workspace(connection: Connection, slug: str, new_slug: str) -> None:
    """Gives a workspace another slug. Raises NotFound and AlreadyExists."""
    workspace = find_workspace(connection, slug, lock=True)
    renamed = update(WORKSPACES).where(WORKSPACES.c.id == workspace.id).values(slug=new_slug)
    try:
        with connection.begin_nested():
            connection.execute(renamed)
    except IntegrityError as error:
        raise slug_taken(new_slug) from error


def retire_workspace(connection: Connection, slug: str) -> WorkspaceRow:
    """Takes the name from a workspace: it is deleted, its rows wait for their end.

    Returns it as it was. Raises NotFound.
    """
    workspace = find_workspace(connection, slug, lock=True)
    connection.execute(update(WORKSPACES).where(WORKSPACES.c.id == workspace.id).values(slug=None))
    return workspace


def insert_space(connection: Connection, workspace_id: int, space_id: str, dimension: int) -> int:
    """Stores a space without passages; returns its key."""
    values = {"workspace_id": workspace_id, "space_id": space_id, "dimension": dimension}
    statement = insert(SPACES).values(values).returning(SPACES.c.id)
    return int(connection.execute(statement).scalar_one())


def delete_space(connection: Connection, workspace_id: int, space_key: int) -> None:
    """Deletes a space without passages."""
    connection.execute(
        delete(SPACES).where(SPACES.c.workspace_id == workspace_id, SPACES.c.id == space_key)
    )


def set_canary(connection: Connection, workspace_id: int, space_key: int, canary: bytes) -> None:
    """Stores the canary of a space."""
    connection.execute(
        update(SPACES)
        .where(SPACES.c.workspace_id == workspace_id, SPACES.c.id == space_key)
        .values(canary=canary)
    )


def set_counts(connection: Connection, workspace_id: int, spaces: Iterable[SpaceRow]) -> None:
    """Stores the counts of spaces."""
    values = [
        {"key": one.key, "passages": one.passage_count, "strays": one.stray_count} for one in spaces
    ]
    if values:
        connection.execute(
            update(SPACES)
            .where(SPACES.c.workspace_id == workspace_id, SPACES.c.id == bindparam("key"))
            .values(passage_count=bindparam("passages"), stray_count=bindparam("strays")),
            values,
        )


def count_strays(connection: Connection, space_key: int, preferred_key: int) -> int:
    """Counts the passages of a space that the preferred space lacks."""
    others = VECTORS.alias("others")
    preferred = select(others.c.passage_id).where(
        others.c.space_key == preferred_key, others.c.passage_id == VECTORS.c.passage_id
    )
    statement = select(func.count()).where(VECTORS.c.space_key == space_key, ~preferred.exists())
    return int(connection.execute(statement).scalar_one())


def _read_spaces(
    connection: Connection, workspace_ids: list[int]
) -> dict[int, tuple[SpaceRow, ...]]:
    rows = connection.execute(
        select(SPACES).where(SPACES.c.workspace_id.in_(workspace_ids)).order_by(SPACES.c.id)
    )
    found: dict[int, tuple[SpaceRow, ...]] = {}
    for row in rows:
        space = SpaceRow(
            row.id,
            row.space_id,
            row.dimension,
            row.passage_count,
            # Windows stand beside the vector, so that nobody needs to know before.
            windowed=True,
            stray_count=row.stray_count,
            canary=row.canary,
        )
        found[row.workspace_id] = (*found.get(row.workspace_id, ()), space)
    return found


def _workspace_from(row: Row[*tuple[Any, ...]], spaces: tuple[SpaceRow, ...]) -> WorkspaceRow:
    return WorkspaceRow(
        id=row.id,
        slug=row.slug,
        settings=WorkspaceSettings(
            language=WorkspaceLanguage(row.language),
            chunking_profile=ChunkingProfile(row.chunking_profile),
            preset=row.preset,
            dense_index_kind=DenseIndexKind(row.dense_index_kind),
            fusion=fusion_from_json(row.fusion),
            child_token_count=row.child_token_count,
        ),
        preferred_space_id=row.preferred_space_id,
        spaces_version=row.spaces_version,
        document_count=row.document_count,
        passage_count=row.passage_count,
        seq=row.seq,
        created_at=moment_from(row.created_at),
        spaces=spaces,
    )
