"""Reads a workspace from the tables of a store, document by document, to be copied."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np

from retriever_svc.documents import (
    WINDOWS_AWAITED,
    DocumentUpsert,
    PassageVectors,
)
from retriever_svc.store.rows import DocumentRow, SpaceRow, WorkspaceRow
from retriever_svc.store.stored_vectors import StoredVector, decoded
from retriever_svc.store.tables import StoreTables
from retriever_svc.transfers.workspace_copy import CopiedSpace, ReadCopy, WorkspaceHead

_PAGE = 100


def read_copy(tables: StoreTables, workspace: WorkspaceRow) -> ReadCopy:
    """Returns the copy; its documents are read as long as the transaction of the tables lasts."""
    return ReadCopy(head_of(workspace), _documents(tables, workspace))


def head_of(workspace: WorkspaceRow) -> WorkspaceHead:
    """Describes what a copy of the workspace holds beside its documents."""
    preferred = workspace.preferred_space_id
    return WorkspaceHead(
        workspace.settings,
        tuple(CopiedSpace(one.space_id, one.dimension, one.canary) for one in _spaces(workspace)),
        # One that holds nothing any more cannot be brought along.
        preferred if workspace.space(preferred) is not None else "",
    )


def _documents(tables: StoreTables, workspace: WorkspaceRow) -> Iterator[DocumentUpsert]:
    after = 0
    while page := tables.documents_after(workspace.id, after, _PAGE):
        for row in page:
            yield _document(tables, workspace, row)
        after = page[-1].id


def _document(
    tables: StoreTables, workspace: WorkspaceRow, document: DocumentRow
) -> DocumentUpsert:
    rows = tables.passages_of_document(workspace.id, document.id)
    parents = tables.parent_ranges(workspace.id, document.id)
    passages = tuple(replace(row.passage, parent=parents.get(row.id)) for row in rows)
    held: dict[int, list[tuple[int, StoredVector]]] = {}
    for position, row in enumerate(rows):
        for stored in tables.vectors_of_passage(workspace.id, row.id):
            held.setdefault(stored.space_key, []).append((position, stored))
    vectors = tuple(
        _vectors(space, held[space.key]) for space in _spaces(workspace) if space.key in held
    )
    return DocumentUpsert(workspace.slug, document.document, passages, vectors)


def _spaces(workspace: WorkspaceRow) -> list[SpaceRow]:
    return sorted(workspace.spaces, key=attrgetter("space_id"))


def _vectors(space: SpaceRow, held: Sequence[tuple[int, StoredVector]]) -> PassageVectors:
    stored = [one for _, one in held]
    return PassageVectors(
        space.space_id,
        np.array([position for position, _ in held], np.int64),
        decoded(b"".join(one.vector for one in stored), space.dimension),
        np.array(
            [WINDOWS_AWAITED if one.window_count is None else one.window_count for one in stored],
            np.int64,
        ),
        decoded(b"".join(one.windows for one in stored), space.dimension),
        sliced_rows=frozenset(row for row, one in enumerate(stored) if one.sliced),
    )
