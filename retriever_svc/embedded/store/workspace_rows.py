"""Rows of workspaces and their vector spaces."""

import sqlite3
from dataclasses import replace
from datetime import datetime
from typing import Any

from chassis.errors import NotFound
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

_COLUMNS = (
    "id, slug, language, chunking_profile, preset, dense_index_kind, preferred_space_id, "
    "spaces_version, document_count, passage_count, seq, created_at, fusion, "
    "child_token_count"
)


def insert_workspace(
    connection: sqlite3.Connection, slug: str, settings: WorkspaceSettings, now: datetime
) -> WorkspaceRow:
    """Stores a new workspace. Raises AlreadyExists."""
    _require_free(connection, slug)
    connection.execute(
        "INSERT INTO workspaces "
        "(slug, language, chunking_profile, preset, dense_index_kind, created_at, fusion, "
        "child_token_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            slug,
            settings.language,
            settings.chunking_profile,
            settings.preset,
            settings.dense_index_kind,
            microseconds_from(now),
            json_from_fusion(settings.fusion),
            settings.child_token_count,
        ),
    )
    return find_workspace(connection, slug)


def find_workspace(connection: sqlite3.Connection, slug: str) -> WorkspaceRow:
    """Reads a workspace by slug. Raises NotFound."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM workspaces WHERE slug = ?", (slug,)
    ).fetchone()
    if row is None:
        raise no_such_workspace(slug)
    return _workspace_from(connection, row)


def read_workspaces(connection: sqlite3.Connection) -> list[WorkspaceRow]:
    """Reads all workspaces that are not deleted, by internal id."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM workspaces WHERE slug IS NOT NULL ORDER BY id"
    ).fetchall()
    return [_workspace_from(connection, row) for row in rows]


def read_workspace(connection: sqlite3.Connection, workspace_id: int) -> WorkspaceRow:
    """Reads a workspace by internal id. Raises NotFound if it is deleted."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM workspaces WHERE id = ? AND slug IS NOT NULL", (workspace_id,)
    ).fetchone()
    if row is None:
        raise NotFound(f"workspace {workspace_id} is deleted", reason="WORKSPACE_NOT_FOUND")
    return _workspace_from(connection, row)


def update_workspace(
    connection: sqlite3.Connection,
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
        "UPDATE workspaces SET seq = ?, document_count = ?, passage_count = ?, "
        "preferred_space_id = ?, spaces_version = ? WHERE id = ?",
        (seq, document_count, passage_count, preferred_space_id, spaces_version, workspace_id),
    )


def change_settings(connection: sqlite3.Connection, update: WorkspaceUpdate) -> WorkspaceRow:
    """Stores other settings of a workspace. Raises NotFound."""
    workspace = find_workspace(connection, update.slug)
    settings = update.applied_to(workspace.settings)
    connection.execute(
        "UPDATE workspaces SET fusion = ?, chunking_profile = ?, child_token_count = ? "
        "WHERE id = ?",
        (
            json_from_fusion(settings.fusion),
            settings.chunking_profile,
            settings.child_token_count,
            workspace.id,
        ),
    )
    return replace(workspace, settings=settings)


def rename_workspace(connection: sqlite3.Connection, slug: str, new_slug: str) -> WorkspaceRow:
    """Gives a workspace another slug. Raises NotFound and AlreadyExists."""
    workspace = find_workspace(connection, slug)
    _require_free(connection, new_slug)
    connection.execute("UPDATE workspaces SET slug = ? WHERE id = ?", (new_slug, workspace.id))
    return replace(workspace, slug=new_slug)


def retire_workspace(connection: sqlite3.Connection, slug: str) -> WorkspaceRow:
    """Takes the name from a workspace: it is deleted, its rows wait for purging.

    Returns it as it was. Raises NotFound.
    """
    workspace = find_workspace(connection, slug)
    connection.execute("UPDATE workspaces SET slug = NULL WHERE id = ?", (workspace.id,))
    return workspace


def prune_removals(connection: sqlite3.Connection, workspace_id: int, up_to: int) -> None:
    """Forgets removals with numbers up to `up_to`, which every index has applied."""
    pruned = connection.execute(
        "DELETE FROM removals WHERE workspace_id = ? AND seq <= ?", (workspace_id, up_to)
    )
    if pruned.rowcount:
        connection.execute(
            "UPDATE workspaces SET removals_pruned_to = ? WHERE id = ?", (up_to, workspace_id)
        )


def removals_since(connection: sqlite3.Connection, workspace_id: int, seq: int) -> list[int] | None:
    """Returns ids of passages removed after change `seq`; None if that is no longer known."""
    (pruned_to,) = connection.execute(
        "SELECT removals_pruned_to FROM workspaces WHERE id = ?", (workspace_id,)
    ).fetchone()
    if seq < pruned_to:
        return None
    rows = connection.execute(
        "SELECT passage_id FROM removals WHERE workspace_id = ? AND seq > ?", (workspace_id, seq)
    )
    return [row[0] for row in rows]


def _require_free(connection: sqlite3.Connection, slug: str) -> None:
    if connection.execute("SELECT 1 FROM workspaces WHERE slug = ?", (slug,)).fetchone():
        raise slug_taken(slug)


def _workspace_from(connection: sqlite3.Connection, row: tuple[Any, ...]) -> WorkspaceRow:
    return WorkspaceRow(
        id=row[0],
        slug=row[1],
        settings=WorkspaceSettings(
            language=WorkspaceLanguage(row[2]),
            chunking_profile=ChunkingProfile(row[3]),
            preset=row[4],
            dense_index_kind=DenseIndexKind(row[5]),
            fusion=fusion_from_json(row[12]),
            child_token_count=row[13],
        ),
        preferred_space_id=row[6],
        spaces_version=row[7],
        document_count=row[8],
        passage_count=row[9],
        seq=row[10],
        created_at=moment_from(row[11]),
        spaces=_read_spaces(connection, row[0]),
    )


def _read_spaces(connection: sqlite3.Connection, workspace_id: int) -> tuple[SpaceRow, ...]:
    rows = connection.execute(
        "SELECT id, space_id, dimension, passage_count, EXISTS ("
        "  SELECT 1 FROM windows"
        "  WHERE windows.workspace_id = spaces.workspace_id AND windows.space_key = spaces.id"
        "), stray_count, canary FROM spaces WHERE workspace_id = ? ORDER BY id",
        (workspace_id,),
    )
    return tuple(
        SpaceRow(key, space_id, dimension, passage_count, bool(windowed), stray_count, canary)
        for key, space_id, dimension, passage_count, windowed, stray_count, canary in rows
    )
