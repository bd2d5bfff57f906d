"""Rows of documents."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from retriever_svc.documents import Document
from retriever_svc.filters import Filter
from retriever_svc.milvus.store.filter_clauses import clause_of
from retriever_svc.milvus.store.layout import DOCUMENTS, among
from retriever_svc.store.json_columns import (
    decoded_value,
    encoded_value,
    json_from_words,
    words_from_json,
)
from retriever_svc.store.moments import microseconds_from, moment_from
from retriever_svc.store.rows import DocumentRow


def insert_document(
    connection: Connection,
    workspace_id: int,
    document: Document,
    *,
    passage_count: int,
    now: datetime,
) -> int:
    """Stores a new document; returns its internal id."""
    values = {
        "workspace_id": workspace_id,
        "passage_count": passage_count,
        "updated_at": microseconds_from(now),
        **_content_of(document),
    }
    statement = insert(DOCUMENTS).values(values).returning(DOCUMENTS.c.id)
    return int(connection.execute(statement).scalar_one())


def update_document(
    connection: Connection,
    workspace_id: int,
    document_id: int,
    document: Document,
    *,
    passage_count: int,
    now: datetime,
) -> None:
    """Replaces what is stored of a document."""
    values = {
        "passage_count": passage_count,
        "updated_at": microseconds_from(now),
        **_content_of(document),
    }
    connection.execute(
        update(DOCUMENTS)
        .where(DOCUMENTS.c.workspace_id == workspace_id, DOCUMENTS.c.id == document_id)
        .values(values)
    )


def delete_document_row(connection: Connection, workspace_id: int, document_id: int) -> None:
    """Deletes a document whose passages are gone."""
    connection.execute(
        delete(DOCUMENTS).where(
            DOCUMENTS.c.workspace_id == workspace_id, DOCUMENTS.c.id == document_id
        )
    )


def find_document(
    connection: Connection, workspace_id: int, external_id: str
) -> DocumentRow | None:
    """Reads a document by the id its owner gave it."""
    row = connection.execute(
        select(DOCUMENTS).where(
            DOCUMENTS.c.workspace_id == workspace_id, DOCUMENTS.c.external_id == external_id
        )
    ).first()
    return None if row is None else _row_from(row)


def read_documents(
    connection: Connection, workspace_id: int, document_ids: Collection[int]
) -> dict[int, DocumentRow]:
    """Reads documents by internal id; those that are gone are missing."""
    rows = connection.execute(
        select(DOCUMENTS).where(
            among(DOCUMENTS.c.id, document_ids),
            DOCUMENTS.c.workspace_id == workspace_id,
        )
    )
    return {row.id: _row_from(row) for row in rows}


def list_document_rows(
    connection: Connection,
    workspace_id: int,
    *,
    after: str | None,
    limit: int,
    condition: Filter | None = None,
) -> list[DocumentRow]:
    """Reads up to `limit` documents ordered by external id, those after `after`.

    With a condition, only those that fulfil it.
    """
    statement = select(DOCUMENTS).where(DOCUMENTS.c.workspace_id == workspace_id)
    if after is not None:
        statement = statement.where(DOCUMENTS.c.external_id > after)
    if condition is not None:
        statement = statement.where(clause_of(condition))
    rows = connection.execute(statement.order_by(DOCUMENTS.c.external_id).limit(limit))
    return [_row_from(row) for row in rows]


def documents_after(
    connection: Connection, workspace_id: int, after: int, limit: int
) -> list[DocumentRow]:
    """Reads up to `limit` documents with internal ids over `after`, growing."""
    rows = connection.execute(
        select(DOCUMENTS)
        .where(DOCUMENTS.c.workspace_id == workspace_id, DOCUMENTS.c.id > after)
        .order_by(DOCUMENTS.c.id)
        .limit(limit)
    )
    return [_row_from(row) for row in rows]


def count_documents(connection: Connection, workspace_id: int, condition: Filter) -> int:
    """Counts the documents of a workspace that fulfil a condition."""
    statement = select(func.count()).where(
        DOCUMENTS.c.workspace_id == workspace_id, clause_of(condition)
    )
    return int(connection.execute(statement).scalar_one())


def _content_of(document: Document) -> dict[str, Any]:
    return {
        "external_id": document.external_id,
        "title": document.title,
        "keywords": json_from_words(document.keywords),
        "source_uri": document.source_uri,
        "category": document.category,
        "language": document.language,
        "metadata": {name: encoded_value(value) for name, value in document.metadata.items()},
        "version": document.version,
        "valid_from": _microseconds(document.valid_from),
        "valid_until": _microseconds(document.valid_until),
        "superseded": document.superseded,
        "content_hash": document.content_hash,
        "chunking_profile": document.chunking_profile,
    }


def _microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else microseconds_from(moment)


def _moment(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else moment_from(microseconds)


def _row_from(row: Row[*tuple[Any, ...]]) -> DocumentRow:
    document = Document(
        external_id=row.external_id,
        title=row.title,
        keywords=words_from_json(row.keywords),
        source_uri=row.source_uri,
        category=row.category,
        language=row.language,
        metadata={name: decoded_value(*pair) for name, pair in row.metadata.items()},
        version=row.version,
        valid_from=_moment(row.valid_from),
        valid_until=_moment(row.valid_until),
        superseded=row.superseded,
        content_hash=row.content_hash,
        chunking_profile=row.chunking_profile,
    )
    return DocumentRow(row.id, document, row.passage_count, moment_from(row.updated_at))
