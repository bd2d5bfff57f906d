"""Reads documents for their owners, each time from one state of the store."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from chassis.errors import NotFound
from retriever_svc.documents import DocumentPage, Parent, StoredDocument, StoredPassage
from retriever_svc.filters import Filter
from retriever_svc.milvus.store.awaiting import awaiting_passages, count_awaiting
from retriever_svc.milvus.store.document_rows import (
    count_documents,
    find_document,
    list_document_rows,
)
from retriever_svc.milvus.store.passage_rows import (
    parents_of,
    passages_of_document,
    read_passages,
    titles_of,
)
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.vector_rows import (
    awaiting_counts,
    sliced_by_passage,
    spaces_by_passage,
    spaces_of_passages,
)
from retriever_svc.milvus.store.workspace_rows import find_workspace
from retriever_svc.spaces import AwaitingPage, AwaitingPassage
from retriever_svc.store.rows import DocumentRow, WorkspaceRow

_NO_SPACE = -1


class DocumentReader:
    """Shared by threads. Raises NotFound for what is not there."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    def get(self, slug: str, external_id: str, *, include_passages: bool) -> StoredDocument:
        """Reads a document."""
        with self._store.snapshot() as connection:
            workspace = find_workspace(connection, slug)
            row = find_document(connection, workspace.id, external_id)
            if row is None:
                raise NotFound(
                    f"no document {external_id!r} in workspace {slug!r}",
                    reason="DOCUMENT_NOT_FOUND",
                )
            passages = _passages(connection, workspace, row) if include_passages else ()
            return _stored(row, awaiting_counts(connection, [row.id]), passages)

    def list_page(
        self, slug: str, *, page_size: int, after: str | None, condition: Filter | None = None
    ) -> DocumentPage:
        """Lists documents whose external id follows `after`.

        With a condition, only those that fulfil it are listed and counted.
        """
        with self._store.snapshot() as connection:
            workspace = find_workspace(connection, slug)
            rows = list_document_rows(
                connection, workspace.id, after=after, limit=page_size + 1, condition=condition
            )
            page = rows[:page_size]
            awaiting = awaiting_counts(connection, [row.id for row in page])
            return DocumentPage(
                tuple(_stored(row, awaiting) for row in page),
                page[-1].document.external_id if len(rows) > page_size else None,
                workspace.document_count
                if condition is None
                else count_documents(connection, workspace.id, condition),
            )

    def list_awaiting(
        self, slug: str, space_id: str, *, windows: bool, page_size: int, after: int | None
    ) -> AwaitingPage:
        """Lists passages with ids over `after` that a space lacks; the first page counts them.

        With `windows` those that it holds without their windows.
        """
        with self._store.snapshot() as connection:
            workspace = find_workspace(connection, slug)
            space = workspace.space(space_id)
            key = _NO_SPACE if space is None else space.key
            listed = awaiting_passages(
                connection,
                workspace.id,
                key,
                windows=windows,
                after=after or 0,
                limit=page_size + 1,
            )
            ids = listed[:page_size]
            rows = read_passages(connection, workspace.id, ids)
            titles = titles_of(connection, workspace.id, ids)
            held = spaces_of_passages(connection, workspace.id, ids)
            counts = (0, 0)
            if after is None:
                counts = count_awaiting(connection, workspace.id, key, windows=windows)
            return AwaitingPage(
                tuple(
                    AwaitingPassage(
                        passage_id,
                        rows[passage_id].passage,
                        titles[passage_id],
                        _names(workspace, held.get(passage_id, set())),
                    )
                    for passage_id in ids
                ),
                ids[-1] if len(listed) > page_size else None,
                *counts,
            )

    def read_parents(self, slug: str, passage_ids: Sequence[int]) -> list[Parent]:
        """Reads the blocks that passages are parts of."""
        with self._store.snapshot() as connection:
            workspace = find_workspace(connection, slug)
            return parents_of(connection, workspace.id, passage_ids)


def _passages(
    connection: Connection, workspace: WorkspaceRow, row: DocumentRow
) -> tuple[StoredPassage, ...]:
    held = spaces_by_passage(connection, row.id)
    sliced = sliced_by_passage(connection, row.id)
    return tuple(
        StoredPassage(
            passage.id,
            passage.passage,
            _names(workspace, held.get(passage.id, set())),
            _names(workspace, sliced.get(passage.id, set())),
        )
        for passage in passages_of_document(connection, workspace.id, row.id)
    )


def _names(workspace: WorkspaceRow, space_keys: set[int]) -> tuple[str, ...]:
    return tuple(space.space_id for space in workspace.spaces if space.key in space_keys)


def _stored(
    row: DocumentRow, awaiting: Mapping[int, int], passages: tuple[StoredPassage, ...] = ()
) -> StoredDocument:
    return StoredDocument(
        row.document, row.passage_count, row.updated_at, passages, awaiting.get(row.id, 0)
    )
