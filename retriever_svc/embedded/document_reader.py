"""Reads documents for their owners, on a thread and connection apart from the searches."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence

from chassis.errors import NotFound
from retriever_svc.documents import DocumentPage, Parent, StoredDocument, StoredPassage
from retriever_svc.embedded.store.document_rows import (
    count_documents,
    find_document,
    list_document_rows,
)
from retriever_svc.embedded.store.passage_rows import (
    parents_of,
    passages_of_document,
    read_passages,
)
from retriever_svc.embedded.store.space_rows import (
    awaiting_passages,
    count_awaiting,
    count_awaiting_windows,
    passages_awaiting_windows,
    spaces_of_passages,
)
from retriever_svc.embedded.store.vector_rows import (
    awaiting_counts,
    sliced_by_passage,
    spaces_by_passage,
)
from retriever_svc.embedded.store.workspace_rows import find_workspace
from retriever_svc.filters import Filter
from retriever_svc.spaces import AwaitingPage, AwaitingPassage
from retriever_svc.store.rows import DocumentRow, WorkspaceRow

_NO_SPACE = -1


class DocumentReader:
    """Reads one state of the store a call. Raises NotFound for what is not there."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Takes a connection that only reads as its own."""
        self._connection = connection

    def get(self, slug: str, external_id: str, *, include_passages: bool) -> StoredDocument:
        """Reads a document."""
        with _Snapshot(self._connection):
            workspace = find_workspace(self._connection, slug)
            row = find_document(self._connection, workspace.id, external_id)
            if row is None:
                raise NotFound(
                    f"no document {external_id!r} in workspace {slug!r}",
                    reason="DOCUMENT_NOT_FOUND",
                )
            passages = self._passages(workspace, row) if include_passages else ()
            awaiting = awaiting_counts(self._connection, workspace.id, [row.id])
            return _stored(row, awaiting, passages)

    def list_page(
        self, slug: str, *, page_size: int, after: str | None, condition: Filter | None = None
    ) -> DocumentPage:
        """Lists documents whose external id follows `after`.

        With a condition, only those that fulfil it are listed and counted.
        """
        with _Snapshot(self._connection):
            workspace = find_workspace(self._connection, slug)
            rows = list_document_rows(
                self._connection,
                workspace.id,
                after=after,
                limit=page_size + 1,
                condition=condition,
            )
            page = rows[:page_size]
            awaiting = awaiting_counts(self._connection, workspace.id, [row.id for row in page])
            return DocumentPage(
                tuple(_stored(row, awaiting) for row in page),
                page[-1].document.external_id if len(rows) > page_size else None,
                workspace.document_count
                if condition is None
                else count_documents(self._connection, workspace.id, condition),
            )

    def list_awaiting(
        self, slug: str, space_id: str, *, windows: bool, page_size: int, after: int | None
    ) -> AwaitingPage:
        """Lists passages with ids over `after` that a space lacks; the first page counts them.

        With `windows` those that it holds without their windows.
        """
        listed, counted = (
            (passages_awaiting_windows, count_awaiting_windows)
            if windows
            else (awaiting_passages, count_awaiting)
        )
        connection = self._connection
        with _Snapshot(connection):
            workspace = find_workspace(connection, slug)
            space = workspace.space(space_id)
            key = _NO_SPACE if space is None else space.key
            titles = listed(connection, workspace.id, key, after=after or 0, limit=page_size + 1)
            ids = list(titles)[:page_size]
            rows = read_passages(connection, workspace.id, ids)
            held = spaces_of_passages(connection, workspace.id, ids)
            names = {known.key: known.space_id for known in workspace.spaces}
            return AwaitingPage(
                tuple(
                    AwaitingPassage(
                        passage_id,
                        rows[passage_id].passage,
                        titles[passage_id],
                        tuple(names[one] for one in sorted(held.get(passage_id, ()))),
                    )
                    for passage_id in ids
                ),
                ids[-1] if len(titles) > page_size else None,
                *(counted(connection, workspace.id, key) if after is None else ()),
            )

    def read_parents(self, slug: str, passage_ids: Sequence[int]) -> list[Parent]:
        """Reads the blocks that passages are parts of."""
        with _Snapshot(self._connection):
            workspace = find_workspace(self._connection, slug)
            return parents_of(self._connection, workspace.id, passage_ids)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _passages(self, workspace: WorkspaceRow, row: DocumentRow) -> tuple[StoredPassage, ...]:
        names = {space.key: space.space_id for space in workspace.spaces}
        held: dict[int, set[int]] = defaultdict(set)
        held.update(spaces_by_passage(self._connection, workspace.id, row.id))
        sliced = sliced_by_passage(self._connection, workspace.id, row.id)
        return tuple(
            StoredPassage(
                passage.id,
                passage.passage,
                tuple(names[key] for key in sorted(held[passage.id])),
                tuple(names[key] for key in sorted(sliced.get(passage.id, ()))),
            )
            for passage in passages_of_document(self._connection, workspace.id, row.id)
        )


class _Snapshot:
    """A read transaction: all statements inside see one state."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")

    def __exit__(self, *_: object) -> None:
        self._connection.execute("ROLLBACK")


def _stored(
    row: DocumentRow, awaiting: Mapping[int, int], passages: tuple[StoredPassage, ...] = ()
) -> StoredDocument:
    return StoredDocument(
        row.document, row.passage_count, row.updated_at, passages, awaiting.get(row.id, 0)
    )
