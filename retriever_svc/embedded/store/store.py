"""The store of one data folder: its single writing connection, and readers on demand."""

import sqlite3
from pathlib import Path

from chassis.errors import FailedPrecondition
from retriever_svc.embedded.store.connections import open_reader, open_writer
from retriever_svc.embedded.store.faults import service_error_from
from retriever_svc.embedded.store.schema import open_epoch, prepare_schema


class Store:
    """Used by one thread at a time; the only one that writes and checkpoints."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the database and brings its schema up to date.

        Raises FailedPrecondition for a schema of a newer build, DataLoss for a damaged file.
        """
        self.path = path
        self._doubtful = False
        try:
            self.connection = open_writer(path)
            prepare_schema(self.connection)
            self.identity, self._epoch = open_epoch(self.connection)
        except sqlite3.Error as error:
            raise service_error_from(error) from error

    def open_reader(self) -> sqlite3.Connection:
        """Returns a connection that only reads; its caller closes it."""
        return open_reader(self.path)

    def begin(self) -> None:
        """Begins a transaction.

        Raises FailedPrecondition if another process has opened the store since.
        """
        if self._doubtful:
            self.reopen()
        self.connection.execute("BEGIN IMMEDIATE")
        (epoch,) = self.connection.execute("SELECT epoch FROM store").fetchone()
        if epoch != self._epoch:
            self.rollback()
            raise FailedPrecondition(
                "another retriever has opened this store since; this one writes no more",
                reason="STORE_FENCED",
            )

    def commit(self) -> None:
        """Ends the transaction; what it changed is on the disk when this returns."""
        self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undoes the transaction, where SQLite has not done so itself."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @property
    def size_bytes(self) -> int:
        """The size of the database without its log."""
        (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
        (page_bytes,) = self.connection.execute("PRAGMA page_size").fetchone()
        return int(pages * page_bytes)

    def vacuum(self) -> None:
        """Writes every page anew, so that none keeps a copy of a row that it once held.

        All or nothing, as a transaction; others read on. Takes space for the database once more,
        in memory and in the log. Raises as `begin`, and sqlite3.Error.
        """
        self.begin()
        self.rollback()
        self.connection.execute("VACUUM")

    def distrust(self) -> None:
        """Notes an error after which the next transaction must begin on a new connection."""
        self._doubtful = True

    def reopen(self) -> None:
        """Opens the connection anew, after an error that leaves open what reached the disk."""
        self._doubtful = True
        self.connection.close()
        self.connection = open_writer(self.path)
        self._doubtful = False

    def close(self) -> None:
        """Closes the writing connection, which empties the log if no reader is left."""
        self.connection.close()
