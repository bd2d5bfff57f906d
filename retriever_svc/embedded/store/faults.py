"""What a caller can do about an error of SQLite."""

import sqlite3

from chassis.errors import DataLoss, ResourceExhausted, ServiceError, Unavailable

_RETRY_AFTER_S = 5.0
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNCONFIRMED = frozenset({sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC})
_PRIMARY = 0xFF


def service_error_from(error: sqlite3.Error) -> ServiceError:
    """Returns the error for the caller whose change failed."""
    code = _code(error)
    if is_disk_full(error):
        return disk_full()
    if code & _PRIMARY in _CORRUPT:
        return DataLoss(
            "the store is damaged; stop the retriever and restore a backup",
            reason="STORE_DAMAGED",
        )
    if code in _UNCONFIRMED:
        return Unavailable(
            "the disk did not confirm this change, it may or may not be stored; repeat it",
            retry_after_s=_RETRY_AFTER_S,
            reason="DISK_UNCONFIRMED",
        )
    return Unavailable(
        f"the store did not take this change ({_name(error)}), nothing was changed; repeat it",
        retry_after_s=_RETRY_AFTER_S,
        reason="STORE_FAILED",
    )


def is_disk_full(error: sqlite3.Error) -> bool:
    """Whether the change found no space, or the database may not grow any more."""
    code = _code(error)
    return code & _PRIMARY == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_WRITE


def disk_full() -> ServiceError:
    """Returns the error for the caller whose change finds no space."""
    return ResourceExhausted(
        "no disk space is left for this change, nothing was changed; free space, then repeat",
        retry_after_s=_RETRY_AFTER_S,
        reason="DISK_FULL",
    )


def log_full() -> ServiceError:
    """Returns the error for the caller whose change the write-ahead log has no room for."""
    return ResourceExhausted(
        "the store's write-ahead log is full, because a process outside of the retriever reads the "
        "store without an end; nothing was changed; stop that process, then repeat",
        retry_after_s=_RETRY_AFTER_S,
        reason="LOG_FULL",
    )


def leaves_doubt(error: sqlite3.Error) -> bool:
    """Whether it is unknown what reached the disk: the connection must be opened anew."""
    return _code(error) in _UNCONFIRMED


def _code(error: sqlite3.Error) -> int:
    # Errors that the driver itself raises have no code.
    return int(getattr(error, "sqlite_errorcode", 0))


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))
