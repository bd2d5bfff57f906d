"""Brings a BM25 index to the state of the store."""

import sqlite3

from retriever_svc.embedded.lexical.lexical_index import LexicalIndex
from retriever_svc.embedded.store.passage_rows import lexical_entries_since
from retriever_svc.embedded.store.workspace_rows import removals_since
from retriever_svc.store.rows import WorkspaceRow


def catch_up(index: LexicalIndex, connection: sqlite3.Connection, workspace: WorkspaceRow) -> None:
    """Applies what the index lacks, or builds it anew where that is not known any more.

    `connection` must see the workspace as `workspace` says.
    """
    if index.seq > workspace.seq:
        # The store was restored from a backup that is older than the index.
        index.empty()
    if index.seq == workspace.seq:
        return
    removed = removals_since(connection, workspace.id, index.seq) if index.seq else []
    if removed is None:
        index.empty()
        removed = []
    index.apply(removed, lexical_entries_since(connection, workspace.id, index.seq))
    index.commit(workspace.seq)
