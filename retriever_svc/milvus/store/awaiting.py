"""Passages that a space lacks, or whose windows it awaits."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from retriever_svc.milvus.store.layout import PASSAGES, VECTORS


def awaiting_passages(
    connection: Connection,
    workspace_id: int,
    space_key: int,
    *,
    windows: bool,
    after: int,
    limit: int,
) -> list[int]:
    """Returns up to `limit` ids over `after` of passages that a space lacks, growing.

    With `windows` those that have a vector in the space and await its windows.
    """
    statement = (
        select(PASSAGES.c.id)
        .where(PASSAGES.c.workspace_id == workspace_id, PASSAGES.c.id > after)
        .where(_awaits(space_key, windows=windows))
        .order_by(PASSAGES.c.id)
        .limit(limit)
    )
    return list(connection.execute(statement).scalars())


def count_awaiting(
    connection: Connection, workspace_id: int, space_key: int, *, windows: bool
) -> tuple[int, int]:
    """Counts the passages that a space lacks, and sums up their token estimates."""
    statement = select(func.count(), func.coalesce(func.sum(PASSAGES.c.token_estimate), 0)).where(
        PASSAGES.c.workspace_id == workspace_id, _awaits(space_key, windows=windows)
    )
    count, tokens = connection.execute(statement).one()
    return int(count), int(tokens)


def _awaits(space_key: int, *, windows: bool) -> ColumnElement[Any]:
    held = select(VECTORS.c.passage_id).where(
        VECTORS.c.space_key == space_key, VECTORS.c.passage_id == PASSAGES.c.id
    )
    if windows:
        return held.where(VECTORS.c.window_count.is_(None)).exists()
    return ~held.exists()
