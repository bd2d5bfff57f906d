"""Rows of vectors with their window blocks: float32, little-endian, norm 1."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    LargeBinary,
    Row,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)

from retriever_svc.milvus.store.layout import PASSAGES, VECTORS, among
from retriever_svc.store.stored_vectors import StoredVector


class HeldVector(NamedTuple):
    """Holds a vector of a passage with its windows; an awaited or empty block is empty."""

    passage_id: int
    space_key: int
    vector: bytes
    windows: bytes


def insert_vectors(connection: Connection, vectors: Iterable[tuple[int, StoredVector]]) -> None:
    """Stores vectors, each with its passage, which has none in that space."""
    values = [
        {
            "space_key": stored.space_key,
            "passage_id": passage_id,
            "vector": stored.vector,
            "sliced": stored.sliced,
            "window_count": stored.window_count,
            "windows": stored.windows,
        }
        for passage_id, stored in vectors
    ]
    if values:
        connection.execute(insert(VECTORS), values)


def delete_vectors(connection: Connection, places: Iterable[tuple[int, int]]) -> None:
    """Deletes vectors by (space key, passage id), with their windows."""
    by_space: dict[int, list[int]] = defaultdict(list)
    for space_key, passage_id in places:
        by_space[space_key].append(passage_id)
    for space_key, passage_ids in by_space.items():
        connection.execute(
            delete(VECTORS).where(
                VECTORS.c.space_key == space_key, among(VECTORS.c.passage_id, passage_ids)
            )
        )


def replace_windows(
    connection: Connection, passage_id: int, space_key: int, window_count: int, windows: bytes
) -> bool:
    """Stores the windows of a passage with a vector; returns whether others were there."""
    place = (VECTORS.c.space_key == space_key, VECTORS.c.passage_id == passage_id)
    before = connection.execute(select(VECTORS.c.window_count).where(*place)).scalar_one()
    connection.execute(
        update(VECTORS).where(*place).values(window_count=window_count, windows=windows)
    )
    return before is not None


def spaces_by_passage(connection: Connection, document_id: int) -> dict[int, set[int]]:
    """Returns, for each passage of a document with vectors, the keys of their spaces."""
    return _spaces(connection, PASSAGES.c.document_id == document_id)


def spaces_of_passages(
    connection: Connection, workspace_id: int, passage_ids: Collection[int]
) -> dict[int, set[int]]:
    """Returns, for each of the passages that has vectors, the keys of their spaces."""
    return _spaces(
        connection, among(PASSAGES.c.id, passage_ids), PASSAGES.c.workspace_id == workspace_id
    )


def sliced_by_passage(connection: Connection, document_id: int) -> dict[int, set[int]]:
    """Returns, for each passage of a document with vectors of slices, the keys of their spaces."""
    return _spaces(connection, PASSAGES.c.document_id == document_id, VECTORS.c.sliced)


def vectors_of_passage(connection: Connection, passage_id: int) -> list[StoredVector]:
    """Reads all vectors of a passage."""
    rows = connection.execute(
        select(VECTORS).where(VECTORS.c.passage_id == passage_id).order_by(VECTORS.c.space_key)
    )
    return [_stored(row) for row in rows]


def passages_of_space(connection: Connection, space_key: int, limit: int) -> list[int]:
    """Returns up to `limit` passages that have a vector in a space."""
    statement = select(VECTORS.c.passage_id).where(VECTORS.c.space_key == space_key).limit(limit)
    return list(connection.execute(statement).scalars())


def held_vectors(
    connection: Connection,
    space_keys: Collection[int],
    passage_ids: Collection[int],
    *,
    windows: bool = False,
) -> Iterator[HeldVector]:
    """Reads the vectors of those passages that have one in the spaces, with windows if asked."""
    if not space_keys or not passage_ids:
        return
    block = VECTORS.c.windows if windows else literal(b"", LargeBinary)
    rows = connection.execute(
        select(VECTORS.c.passage_id, VECTORS.c.space_key, VECTORS.c.vector, block).where(
            among(VECTORS.c.passage_id, passage_ids), among(VECTORS.c.space_key, space_keys)
        )
    )
    for row in rows:
        yield HeldVector(*row)


def awaiting_counts(connection: Connection, document_ids: Collection[int]) -> dict[int, int]:
    """Counts, by internal id of the document, the passages without any vector, where there are."""
    held = select(VECTORS.c.passage_id).where(VECTORS.c.passage_id == PASSAGES.c.id)
    rows = connection.execute(
        select(PASSAGES.c.document_id, func.count())
        .where(among(PASSAGES.c.document_id, document_ids), ~held.exists())
        .group_by(PASSAGES.c.document_id)
    )
    return {document_id: count for document_id, count in rows}


def _spaces(connection: Connection, *conditions: Any) -> dict[int, set[int]]:
    rows = connection.execute(
        select(VECTORS.c.passage_id, VECTORS.c.space_key)
        .join(PASSAGES, PASSAGES.c.id == VECTORS.c.passage_id)
        .where(*conditions)
    )
    found: dict[int, set[int]] = {}
    for passage_id, space_key in rows:
        found.setdefault(passage_id, set()).add(space_key)
    return found


def _stored(row: Row[*tuple[Any, ...]]) -> StoredVector:
    return StoredVector(row.space_key, row.vector, row.window_count, row.windows, row.sliced)
