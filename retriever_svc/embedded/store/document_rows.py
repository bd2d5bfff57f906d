"""Rows of documents."""

import sqlite3
from collections.abc import Collection
from datetime import datetime
from typing import Any

import orjson

from retriever_svc.documents import Document
from retriever_svc.embedded.store.filter_queries import clause_of
from retriever_svc.filters import Filter
from retriever_svc.store.json_columns import (
    json_from_metadata,
    json_from_words,
    metadata_from_json,
    words_from_json,
)
from retriever_svc.store.moments import microseconds_from, moment_from
from retriever_svc.store.rows import DocumentRow

_CONTENT = (
    "external_id, title, keywords, source_uri, category, language, metadata, version, "
    "valid_from, valid_until, superseded, content_hash, chunking_profile"
)
_CONTENT_COLUMNS = _CONTENT.split(", ")
_SELECTED = f"id, passage_count, updated_at, {_CONTENT}"


def insert_document(
    connection: sqlite3.Connection,
    workspace_id: int,
    document: Document,
    *,
    passage_count: int,
    seq: int,
    now: datetime,
) -> int:
    """Stores a new document; returns its internal id."""
    cursor = connection.execute(
        f"INSERT INTO documents (workspace_id, passage_count, seq, updated_at, {_CONTENT}) "
        f"VALUES (?, ?, ?, ?{', ?' * len(_CONTENT_COLUMNS)})",
        (workspace_id, passage_count, seq, microseconds_from(now), *_content_of(document)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def update_document(
    connection: sqlite3.Connection,
    workspace_id: int,
    document_id: int,
    document: Document,
    *,
    passage_count: int,
    seq: int,
    now: datetime,
) -> None:
    """Replaces what is stored of a document."""
    assignments = ", ".join(f"{column} = ?" for column in _CONTENT_COLUMNS)
    connection.execute(
        f"UPDATE documents SET passage_count = ?, seq = ?, updated_at = ?, {assignments} "
        "WHERE workspace_id = ? AND id = ?",
        (
            passage_count,
            seq,
            microseconds_from(now),
            *_content_of(document),
            workspace_id,
            document_id,
        ),
    )


def delete_document_row(
    connection: sqlite3.Connection, workspace_id: int, document_id: int
) -> None:
    """Deletes a document whose passages are gone."""
    connection.execute(
        "DELETE FROM documents WHERE workspace_id = ? AND id = ?", (workspace_id, document_id)
    )


def find_document(
    connection: sqlite3.Connection, workspace_id: int, external_id: str
) -> DocumentRow | None:
    """Reads a document by the id its owner gave it."""
    row = connection.execute(
        f"SELECT {_SELECTED} FROM documents WHERE workspace_id = ? AND external_id = ?",
        (workspace_id, external_id),
    ).fetchone()
    return None if row is None else _row_from(row)


def read_documents(
    connection: sqlite3.Connection, workspace_id: int, document_ids: Collection[int]
) -> dict[int, DocumentRow]:
    """Reads documents by internal id; those that are gone are missing."""
    rows = connection.execute(
        f"SELECT {_SELECTED} FROM documents "
        # The sign keeps SQLite from walking all rows of the workspace by its index.
        "WHERE +workspace_id = ? AND id IN (SELECT value FROM json_each(?))",
        (workspace_id, orjson.dumps(list(document_ids)).decode()),
    )
    return {row[0]: _row_from(row) for row in rows}


def list_document_rows(
    connection: sqlite3.Connection,
    workspace_id: int,
    *,
    after: str | None,
    limit: int,
    condition: Filter | None = None,
) -> list[DocumentRow]:
    """Reads up to `limit` documents ordered by external id, those after `after`.

    With a condition, only those that fulfil it.
    """
    clause, values = ("1", []) if condition is None else clause_of(condition)
    rows = connection.execute(
        f"SELECT {_SELECTED} FROM documents "
        f"WHERE workspace_id = ? AND external_id > ? AND {clause} ORDER BY external_id LIMIT ?",
        (workspace_id, "" if after is None else after, *values, limit),
    )
    return [_row_from(row) for row in rows]


def documents_after(
    connection: sqlite3.Connection, workspace_id: int, after: int, limit: int
) -> list[DocumentRow]:
    """Reads up to `limit` documents with internal ids over `after`, growing."""
    rows = connection.execute(
        # The sign keeps SQLite from sorting all documents of the workspace.
        f"SELECT {_SELECTED} FROM documents WHERE +workspace_id = ? AND id > ? ORDER BY id LIMIT ?",
        (workspace_id, after, limit),
    )
    return [_row_from(row) for row in rows]


def count_documents(connection: sqlite3.Connection, workspace_id: int, condition: Filter) -> int:
    """Counts the documents of a workspace that fulfil a condition."""
    clause, values = clause_of(condition)
    row = connection.execute(
        f"SELECT count(*) FROM documents WHERE workspace_id = ? AND {clause}",
        (workspace_id, *values),
    ).fetchone()
    return int(row[0])


def _content_of(document: Document) -> tuple[str | int | None, ...]:
    return (
        document.external_id,
        document.title,
        json_from_words(document.keywords),
        document.source_uri,
        document.category,
        document.language,
        json_from_metadata(document.metadata),
        document.version,
        None if document.valid_from is None else microseconds_from(document.valid_from),
        None if document.valid_until is None else microseconds_from(document.valid_until),
        int(document.superseded),
        document.content_hash,
        document.chunking_profile,
    )


def _row_from(row: tuple[Any, ...]) -> DocumentRow:
    document_id, passage_count, updated_at, *content = row
    document = Document(
        external_id=content[0],
        title=content[1],
        keywords=words_from_json(content[2]),
        source_uri=content[3],
        category=content[4],
        language=content[5],
        metadata=metadata_from_json(content[6]),
        version=content[7],
        valid_from=None if content[8] is None else moment_from(content[8]),
        valid_until=None if content[9] is None else moment_from(content[9]),
        superseded=bool(content[10]),
        content_hash=content[11],
        chunking_profile=content[12],
    )
    return DocumentRow(document_id, document, passage_count, moment_from(updated_at))
