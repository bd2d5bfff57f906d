"""SQLite connections: one that writes and checkpoints, others that only read.

One writer that is also the only checkpointer keeps clear of the WAL-reset fault of SQLite 3.7.0
to 3.51.2, which needs two connections that write or checkpoint at once.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

PAGE_SIZE = 16384
_CACHE_KIB = 16384
# A log that starts afresh is cut back to this. Less than the size at which it is emptied, or it
# would always look full; more than nothing, so that a full disk has room for some deletions.
_JOURNAL_LIMIT_BYTES = 8 * 2**20


def open_writer(path: Path, *, busy_timeout_s: float = 5.0) -> sqlite3.Connection:
    """Opens, or creates, the database for writing; transactions are begun explicitly.

    A commit has reached the disk when it returns (WAL, synchronous=FULL). Deleted content is
    overwritten with zeros.
    """
    connection = sqlite3.connect(
        path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        # Only takes effect while the database is empty, and not once it is in WAL mode.
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchone()
        connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_LIMIT_BYTES}").fetchone()
        connection.execute("PRAGMA secure_delete = ON").fetchone()
        connection.execute("PRAGMA foreign_keys = ON")
        _set_common(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path, *, busy_timeout_s: float = 5.0) -> sqlite3.Connection:
    """Opens the database for reading; it must exist and have a writer."""
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchone()
        connection.execute("PRAGMA query_only = ON")
        _set_common(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def busy_timeout(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Lets statements inside wait so long for other connections, not as long as otherwise."""
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1_000)}").fetchone()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}").fetchone()


def wal_bytes(path: Path) -> int:
    """Returns the size of the write-ahead log in bytes."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0


def _set_common(connection: sqlite3.Connection) -> None:
    # Mapped pages would count as resident memory of the query path.
    connection.execute("PRAGMA mmap_size = 0").fetchone()
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
