"""A reading connection that stays at one state of the store until it is told to move on.

The search thread reads texts through it: they belong to exactly the state its indexes show.
"""

import sqlite3


class SnapshotReader:
    """Holds a read transaction; `refresh` moves it to what is committed now."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._take_snapshot()

    def refresh(self) -> None:
        """Moves on to the present state."""
        self.connection.execute("ROLLBACK")
        self._take_snapshot()

    def close(self) -> None:
        """Ends the transaction and the connection."""
        self.connection.close()

    def _take_snapshot(self) -> None:
        self.connection.execute("BEGIN")
        # The snapshot is taken by the first read, not by BEGIN.
        self.connection.execute("SELECT epoch FROM store").fetchone()
