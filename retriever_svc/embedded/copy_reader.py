"""Reads one state of a workspace from the store, on a connection of its own."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from sqlite3 import Connection

from retriever_svc.embedded.store.sqlite_tables import SqliteTables
from retriever_svc.store.copies import read_copy
from retriever_svc.transfers.workspace_copy import ReadCopy


@contextmanager
def opened_copy(open_reader: Callable[[], Connection], slug: str) -> Iterator[ReadCopy]:
    """Yields the copy; changes go on beside it, and the write-ahead log grows up to its limit.

    Raises NotFound.
    """
    with closing(open_reader()) as connection:
        connection.execute("BEGIN")
        tables = SqliteTables(connection)
        yield read_copy(tables, tables.find_workspace(slug))
