"""Copies the store of a data folder, also while a retriever writes to it."""

import os
import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from chassis.errors import DataLoss, FailedPrecondition
from retriever_svc.embedded.store.connections import open_reader
from retriever_svc.embedded.store.faults import service_error_from

STORE_FILE = "store.sqlite3"
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the pages that are left to copy, and all pages, now and then."""

_STEP_PAGES = 1_024


def back_up(data_folder: Path, target: Path, progress: Progress) -> int:
    """Writes the present state of the store into the folder `target`; returns its bytes.

    The target is a data folder that a retriever can be started with: it has no indexes, they are
    derived at the first start. It holds everything acknowledged before the call, and all or
    nothing of each later change. Nobody who writes is held up; the write-ahead log grows meanwhile,
    up to its limit.

    Raises FailedPrecondition if there is no store to copy or the target holds one, DataLoss if the
    copy is damaged, ResourceExhausted if it finds no space; the target has no store then.
    """
    source, copy = data_folder / STORE_FILE, target / STORE_FILE
    if not source.is_file():
        raise FailedPrecondition(
            f"there is no store in {data_folder}; name the retriever's data folder",
            reason="NO_STORE",
        )
    if copy.exists():
        raise FailedPrecondition(
            f"{target} holds a store already; name another folder", reason="BACKUP_EXISTS"
        )
    target.mkdir(parents=True, exist_ok=True)
    temporary = target / f"{STORE_FILE}.tmp"
    temporary.unlink(missing_ok=True)
    try:
        _copy(source, temporary, progress)
        _sync(temporary)
        os.replace(temporary, copy)
    except sqlite3.Error as error:
        raise service_error_from(error) from error
    finally:
        temporary.unlink(missing_ok=True)
    _sync(target)
    return copy.stat().st_size


def _copy(source: Path, temporary: Path, progress: Progress) -> None:
    reading = open_reader(source)
    writing = sqlite3.connect(temporary, isolation_level=None)
    try:
        # Synced once, as a whole, when it is there; the sooner the log is let go, the better.
        writing.execute("PRAGMA synchronous = OFF")
        # In one transaction: the reader sees one state, and commits beside it do not start it
        # again. Without one, a store that is written to would never be copied to the end.
        reading.execute("BEGIN")
        reading.execute("SELECT identity FROM store").fetchone()
        reading.backup(
            writing, pages=_STEP_PAGES, progress=lambda _, left, total: progress(left, total)
        )
        reading.execute("COMMIT")
        # One file, whole without a log beside it.
        writing.execute("PRAGMA journal_mode = DELETE").fetchone()
        # Indexes of the original, which may run ahead of this copy, are not those of the copy.
        writing.execute("UPDATE store SET identity = ?", (uuid.uuid4().hex,))
        (verdict,) = writing.execute("PRAGMA quick_check(1)").fetchone()
    finally:
        writing.close()
        reading.close()
    if verdict != "ok":
        raise DataLoss(
            f"the copy is damaged, and so is the store then: {verdict}", reason="STORE_DAMAGED"
        )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
