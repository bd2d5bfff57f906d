"""What Milvus has still to take in: written in the transaction of the change itself.

An entry names passages, not their content: whoever works it off reads the present state, so that
working one off twice, late or in another order does no harm.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, func, insert, select

from retriever_svc.milvus.store.layout import OUTBOX, among

# Names the locks under which one process at a time works off a workspace.
_LOCK_KIND = 1_785_951_590


@dataclass(frozen=True, slots=True)
class Due:
    """Holds what is due for a workspace."""

    entry_ids: tuple[int, ...]
    passage_ids: frozenset[int]
    everything: bool
    """Whether all of the workspace is to be built anew."""
    dropped_spaces: frozenset[int]


def note(
    connection: Connection,
    workspace_id: int,
    passage_ids: Collection[int] | None,
    dropped_spaces: Collection[int] = (),
) -> None:
    """Adds an entry; None stands for all of the workspace."""
    connection.execute(
        insert(OUTBOX).values(
            workspace_id=workspace_id,
            passage_ids=None if passage_ids is None else sorted(passage_ids),
            dropped_spaces=sorted(dropped_spaces),
        )
    )


def is_due(connection: Connection, workspace_id: int) -> bool:
    """Whether anything is due for a workspace."""
    statement = select(exists().where(OUTBOX.c.workspace_id == workspace_id))
    return bool(connection.execute(statement).scalar_one())


def lock_workspace(connection: Connection, workspace_id: int, *, wait: bool = True) -> bool:
    """Takes the lock of the workspace to the end of the transaction; returns whether it has it.

    Where another transaction holds it, waits for it or gives up.
    """
    key = workspace_id % 2**31
    if wait:
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK_KIND, key)))
        return True
    tried = select(func.pg_try_advisory_xact_lock(_LOCK_KIND, key))
    return bool(connection.execute(tried).scalar_one())


def due(connection: Connection, workspace_id: int) -> Due:
    """Reads what is due for a workspace."""
    rows = connection.execute(
        select(OUTBOX.c.id, OUTBOX.c.passage_ids, OUTBOX.c.dropped_spaces)
        .where(OUTBOX.c.workspace_id == workspace_id)
        .order_by(OUTBOX.c.id)
    ).all()
    return Due(
        tuple(row.id for row in rows),
        frozenset(one for row in rows for one in row.passage_ids or ()),
        any(row.passage_ids is None for row in rows),
        frozenset(one for row in rows for one in row.dropped_spaces),
    )


def remove(connection: Connection, entry_ids: Collection[int]) -> None:
    """Removes entries that are worked off."""
    connection.execute(delete(OUTBOX).where(among(OUTBOX.c.id, entry_ids)))


def oldest_entries(connection: Connection) -> dict[int, int]:
    """Returns the id of the oldest entry of each workspace that has some."""
    rows = connection.execute(
        select(OUTBOX.c.workspace_id, func.min(OUTBOX.c.id)).group_by(OUTBOX.c.workspace_id)
    )
    return {workspace_id: entry_id for workspace_id, entry_id in rows}
