"""Rows of passages."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from retriever_svc.documents import Parent, ParentRange, Passage
from retriever_svc.milvus.store.layout import DOCUMENTS, PASSAGES, among
from retriever_svc.store.json_columns import json_from_words, words_from_json
from retriever_svc.store.rows import PassageRow

_READ = (
    PASSAGES.c.id,
    PASSAGES.c.document_id,
    PASSAGES.c.chunk_index,
    PASSAGES.c.text,
    PASSAGES.c.heading_path,
    PASSAGES.c.location,
    PASSAGES.c.token_estimate,
    PASSAGES.c.embedded_text_hash,
    PASSAGES.c.cuts_token,
)


def insert_passages(
    connection: Connection, workspace_id: int, document_id: int, passages: Sequence[Passage]
) -> list[int]:
    """Stores new passages; returns their ids, growing, in the order of the passages."""
    if not passages:
        return []
    owner = {"workspace_id": workspace_id, "document_id": document_id}
    ids = connection.execute(
        insert(PASSAGES).returning(PASSAGES.c.id, sort_by_parameter_order=True),
        [{**owner, **_content_of(passage)} for passage in passages],
    )
    return [int(passage_id) for passage_id in ids.scalars()]


def update_passage(
    connection: Connection, workspace_id: int, passage_id: int, passage: Passage
) -> None:
    """Replaces what is stored of a passage; the id stays."""
    connection.execute(
        update(PASSAGES)
        .where(PASSAGES.c.workspace_id == workspace_id, PASSAGES.c.id == passage_id)
        .values(_content_of(passage))
    )


def delete_passages(
    connection: Connection, workspace_id: int, passage_ids: Collection[int]
) -> None:
    """Deletes passages whose vectors are gone."""
    connection.execute(
        delete(PASSAGES).where(
            among(PASSAGES.c.id, passage_ids), PASSAGES.c.workspace_id == workspace_id
        )
    )


def passages_of_document(
    connection: Connection, workspace_id: int, document_id: int
) -> list[PassageRow]:
    """Reads the passages of a document in order."""
    rows = connection.execute(
        select(*_READ)
        .where(PASSAGES.c.workspace_id == workspace_id, PASSAGES.c.document_id == document_id)
        .order_by(PASSAGES.c.chunk_index)
    )
    return [_row_from(row) for row in rows]


def parent_ranges(
    connection: Connection, workspace_id: int, document_id: int
) -> dict[int, ParentRange]:
    """Returns, for each passage of a document that is part of a block, which ones make it."""
    rows = connection.execute(
        select(
            PASSAGES.c.id,
            PASSAGES.c.parent_first,
            PASSAGES.c.parent_count,
            PASSAGES.c.parent_gap,
        ).where(
            PASSAGES.c.workspace_id == workspace_id,
            PASSAGES.c.document_id == document_id,
            PASSAGES.c.parent_first.is_not(None),
        )
    )
    return {row[0]: ParentRange(*row[1:]) for row in rows}


def read_passages(
    connection: Connection, workspace_id: int, passage_ids: Collection[int]
) -> dict[int, PassageRow]:
    """Reads passages by id; those that are gone are missing."""
    if not passage_ids:
        return {}
    rows = connection.execute(
        select(*_READ).where(
            among(PASSAGES.c.id, passage_ids), PASSAGES.c.workspace_id == workspace_id
        )
    )
    return {row.id: _row_from(row) for row in rows}


def passages_after(connection: Connection, workspace_id: int, after: int, limit: int) -> list[int]:
    """Returns up to `limit` ids of passages over `after`, growing."""
    statement = select(PASSAGES.c.id).where(
        PASSAGES.c.workspace_id == workspace_id, PASSAGES.c.id > after
    )
    return list(connection.execute(statement.order_by(PASSAGES.c.id).limit(limit)).scalars())


def titles_of(
    connection: Connection, workspace_id: int, passage_ids: Collection[int]
) -> dict[int, str]:
    """Returns the titles of the passages' documents, by passage."""
    if not passage_ids:
        return {}
    rows = connection.execute(
        select(PASSAGES.c.id, DOCUMENTS.c.title)
        .join(DOCUMENTS, DOCUMENTS.c.id == PASSAGES.c.document_id)
        .where(among(PASSAGES.c.id, passage_ids), PASSAGES.c.workspace_id == workspace_id)
    )
    return {row.id: row.title for row in rows}


def parents_of(
    connection: Connection, workspace_id: int, passage_ids: Collection[int]
) -> list[Parent]:
    """Reads the blocks that passages are parts of, in the order of the ids."""
    rows = connection.execute(
        select(
            PASSAGES.c.id,
            PASSAGES.c.document_id,
            PASSAGES.c.parent_first,
            PASSAGES.c.parent_count,
        ).where(
            among(PASSAGES.c.id, passage_ids),
            PASSAGES.c.workspace_id == workspace_id,
            PASSAGES.c.parent_first.is_not(None),
        )
    ).all()
    found: dict[int, Parent] = {}
    texts: dict[tuple[int, int], str] = {}
    for passage_id, document_id, first, count in rows:
        block = (document_id, first)
        if block not in texts:
            texts[block] = _block_text(connection, document_id, first, count)
        found[passage_id] = Parent(passage_id, texts[block], first, count)
    return [found[passage_id] for passage_id in passage_ids if passage_id in found]


def _block_text(connection: Connection, document_id: int, first: int, count: int) -> str:
    rows = connection.execute(
        select(PASSAGES.c.text, PASSAGES.c.parent_gap)
        .where(
            PASSAGES.c.document_id == document_id,
            PASSAGES.c.chunk_index >= first,
            PASSAGES.c.chunk_index < first + count,
        )
        .order_by(PASSAGES.c.chunk_index)
    )
    return "".join(text if index == 0 else gap + text for index, (text, gap) in enumerate(rows))


def _content_of(passage: Passage) -> dict[str, Any]:
    parent = passage.parent
    return {
        "chunk_index": passage.chunk_index,
        "text": passage.text,
        "heading_path": json_from_words(passage.heading_path),
        "location": passage.location,
        "token_estimate": passage.token_estimate,
        "embedded_text_hash": passage.embedded_text_hash,
        "cuts_token": passage.cuts_token,
        "parent_first": None if parent is None else parent.first_chunk_index,
        "parent_count": None if parent is None else parent.passage_count,
        "parent_gap": "" if parent is None else parent.gap,
    }


def _row_from(row: Row[*tuple[Any, ...]]) -> PassageRow:
    passage = Passage(
        row.chunk_index,
        row.text,
        words_from_json(row.heading_path),
        row.location,
        row.token_estimate,
        row.embedded_text_hash,
        cuts_token=row.cuts_token,
    )
    return PassageRow(row.id, row.document_id, passage)
