"""Rows of passages."""

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import orjson

from retriever_svc.documents import Parent, ParentRange, Passage
from retriever_svc.store.json_columns import json_from_words, words_from_json
from retriever_svc.store.rows import LexicalEntry, PassageRow

_CONTENT = (
    "chunk_index, text, heading_path, location, token_estimate, embedded_text_hash, cuts_token"
)
_WRITTEN = f"{_CONTENT}, parent_first, parent_count, parent_gap"
_WRITTEN_COLUMNS = _WRITTEN.split(", ")
_MARKS = {count: ", ".join("?" * count) for count in (8, 20, 40, 100, 200)}
_MOST_MARKS = max(_MARKS)


def insert_passage(
    connection: sqlite3.Connection,
    workspace_id: int,
    document_id: int,
    passage: Passage,
    seq: int,
) -> int:
    """Stores a new passage; returns its id."""
    cursor = connection.execute(
        f"INSERT INTO passages (workspace_id, document_id, seq, {_WRITTEN}) "
        f"VALUES (?, ?, ?{', ?' * len(_WRITTEN_COLUMNS)})",
        (workspace_id, document_id, seq, *_content_of(passage)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def update_passage(
    connection: sqlite3.Connection,
    workspace_id: int,
    passage_id: int,
    passage: Passage,
    seq: int,
) -> None:
    """Replaces what is stored of a passage; the id stays."""
    assignments = ", ".join(f"{column} = ?" for column in _WRITTEN_COLUMNS)
    connection.execute(
        f"UPDATE passages SET seq = ?, {assignments} WHERE workspace_id = ? AND id = ?",
        (seq, *_content_of(passage), workspace_id, passage_id),
    )


def delete_passages(
    connection: sqlite3.Connection, workspace_id: int, passage_ids: Collection[int], seq: int
) -> None:
    """Deletes passages whose vectors are gone, and notes it for the derived indexes."""
    doomed = [(workspace_id, passage_id) for passage_id in passage_ids]
    connection.executemany("DELETE FROM passages WHERE workspace_id = ? AND id = ?", doomed)
    connection.executemany(
        "INSERT INTO removals (workspace_id, seq, passage_id) VALUES (?, ?, ?)",
        [(workspace_id, seq, passage_id) for passage_id in passage_ids],
    )


def passages_of_document(
    connection: sqlite3.Connection, workspace_id: int, document_id: int
) -> list[PassageRow]:
    """Reads the passages of a document in order."""
    rows = connection.execute(
        f"SELECT id, document_id, {_CONTENT} FROM passages "
        "WHERE workspace_id = ? AND document_id = ? ORDER BY chunk_index",
        (workspace_id, document_id),
    )
    return [_row_from(row) for row in rows]


def parent_ranges(
    connection: sqlite3.Connection, workspace_id: int, document_id: int
) -> dict[int, ParentRange]:
    """Returns, for each passage of a document that is part of a block, which ones make it."""
    rows = connection.execute(
        "SELECT id, parent_first, parent_count, parent_gap FROM passages "
        "WHERE workspace_id = ? AND document_id = ? AND parent_first IS NOT NULL",
        (workspace_id, document_id),
    )
    return {row[0]: ParentRange(*row[1:]) for row in rows}


def read_passages(
    connection: sqlite3.Connection, workspace_id: int, passage_ids: Collection[int]
) -> dict[int, PassageRow]:
    """Reads passages by id; those that are gone are missing."""
    ids = list(passage_ids)
    values: tuple[int | str, ...]
    if 0 < len(ids) <= _MOST_MARKS:
        # Twice as fast as a JSON list; filled up, so that few statements have to be compiled.
        count = next(count for count in _MARKS if count >= len(ids))
        chosen, values = _MARKS[count], (*ids, *ids[:1] * (count - len(ids)))
    else:
        chosen, values = "SELECT value FROM json_each(?)", (orjson.dumps(ids).decode(),)
    rows = connection.execute(
        f"SELECT id, document_id, {_CONTENT} FROM passages "
        # The sign keeps SQLite from walking all rows of the workspace by its index.
        f"WHERE +workspace_id = ? AND id IN ({chosen})",
        (workspace_id, *values),
    )
    return {row[0]: _row_from(row) for row in rows}


def lexical_entries_since(
    connection: sqlite3.Connection, workspace_id: int, seq: int
) -> Iterator[LexicalEntry]:
    """Reads what the BM25 index must take in of the changes after number `seq`."""
    return _lexical_entries(
        connection,
        "passages.workspace_id = ? AND passages.seq > ?",
        (workspace_id, seq),
    )


def lexical_entries_of(
    connection: sqlite3.Connection, workspace_id: int, passage_ids: Collection[int]
) -> Iterator[LexicalEntry]:
    """Reads what the BM25 index takes of these passages; those that are gone are missing."""
    return _lexical_entries(
        connection,
        # The sign keeps SQLite from walking all rows of the workspace by its index.
        "+passages.workspace_id = ? AND passages.id IN (SELECT value FROM json_each(?))",
        (workspace_id, orjson.dumps(list(passage_ids)).decode()),
    )


def passage_ids_of_workspace(connection: sqlite3.Connection, workspace_id: int) -> list[int]:
    """Returns the ids of all passages, growing."""
    rows = connection.execute("SELECT id FROM passages WHERE workspace_id = ?", (workspace_id,))
    return sorted(row[0] for row in rows)


def passages_without_vectors(connection: sqlite3.Connection, workspace_id: int) -> set[int]:
    """Returns the ids of passages that have no vector in any space."""
    rows = connection.execute(
        "SELECT id FROM passages WHERE workspace_id = ? "
        "AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.passage_id = passages.id)",
        (workspace_id,),
    )
    return {row[0] for row in rows}


def parents_of(
    connection: sqlite3.Connection, workspace_id: int, passage_ids: Collection[int]
) -> list[Parent]:
    """Reads the blocks that passages are parts of, in the order of the ids."""
    found: dict[int, Parent] = {}
    texts: dict[tuple[int, int], str] = {}
    rows = connection.execute(
        "SELECT id, document_id, parent_first, parent_count FROM passages "
        "WHERE +workspace_id = ? AND parent_first IS NOT NULL "
        "AND id IN (SELECT value FROM json_each(?))",
        (workspace_id, orjson.dumps(list(passage_ids)).decode()),
    )
    for passage_id, document_id, first, count in rows.fetchall():
        block = (document_id, first)
        if block not in texts:
            texts[block] = _block_text(connection, workspace_id, document_id, first, count)
        found[passage_id] = Parent(passage_id, texts[block], first, count)
    return [found[passage_id] for passage_id in passage_ids if passage_id in found]


def _block_text(
    connection: sqlite3.Connection, workspace_id: int, document_id: int, first: int, count: int
) -> str:
    rows = connection.execute(
        "SELECT text, parent_gap FROM passages WHERE workspace_id = ? AND document_id = ? "
        "AND chunk_index >= ? AND chunk_index < ? ORDER BY chunk_index",
        (workspace_id, document_id, first, first + count),
    )
    return "".join(text if index == 0 else gap + text for index, (text, gap) in enumerate(rows))


def _lexical_entries(
    connection: sqlite3.Connection, condition: str, chosen: tuple[int | str, ...]
) -> Iterator[LexicalEntry]:
    rows = connection.execute(
        "SELECT passages.id, documents.language, documents.title, passages.heading_path, "
        "documents.keywords, passages.text "
        "FROM passages JOIN documents ON documents.id = passages.document_id "
        f"WHERE {condition}",
        chosen,
    )
    for passage_id, language, title, heading_path, keywords, text in rows:
        yield LexicalEntry(
            passage_id,
            language,
            title,
            words_from_json(heading_path),
            words_from_json(keywords),
            text,
        )


def _content_of(passage: Passage) -> tuple[str | int | None, ...]:
    parent = passage.parent
    return (
        passage.chunk_index,
        passage.text,
        json_from_words(passage.heading_path),
        passage.location,
        passage.token_estimate,
        passage.embedded_text_hash,
        passage.cuts_token,
        None if parent is None else parent.first_chunk_index,
        None if parent is None else parent.passage_count,
        "" if parent is None else parent.gap,
    )


def _row_from(row: tuple[Any, ...]) -> PassageRow:
    passage_id, document_id, chunk_index, text, heading_path, *rest, cuts_token = row
    passage = Passage(chunk_index, text, words_from_json(heading_path), *rest)
    if cuts_token:
        passage = replace(passage, cuts_token=True)
    return PassageRow(passage_id, document_id, passage)
