"""Reads one state of a workspace from the store."""

from collections.abc import Iterator
from contextlib import contextmanager

from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.postgres_tables import PostgresTables
from retriever_svc.milvus.store.workspace_rows import find_workspace
from retriever_svc.store.copies import read_copy
from retriever_svc.transfers.workspace_copy import ReadCopy


@contextmanager
def opened_copy(store: PostgresStore, slug: str) -> Iterator[ReadCopy]:
    """Yields the copy; changes go on beside it. Raises NotFound, and Unavailable as the store."""
    with store.snapshot() as connection:
        # Without a lock, unlike the tables: nothing is about to change.
        workspace = find_workspace(connection, slug)
        yield read_copy(PostgresTables(connection), workspace)
