"""What an embedder keeps over a restart: what workspaces have cost today, and known vectors.

One SQLite file in a folder of its own, held by one process. Texts are not in it, only their
hashes. Changes are written by a thread, in the order they came, several in one transaction: the end
of the process loses none that it had begun to write, and the embedder never waits for the disk.
A file that is damaged is put aside; the embedder begins anew without it.
"""

import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import structlog

from chassis.binding import EXIT_CONFIG, StartError
from embedder_svc.embedding import EmbeddedText, EmbeddingPurpose, Vectors

_log = structlog.get_logger("embedder_svc.disk_state")

FILE_NAME = "embedder.sqlite3"
_Change = Callable[[sqlite3.Connection], object]
_LARGEST_GROUP = 256
_SCHEMA = """
CREATE TABLE IF NOT EXISTS costs (
    day INTEGER NOT NULL, workspace TEXT NOT NULL, cost REAL NOT NULL,
    PRIMARY KEY (day, workspace)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS canaries (space_id TEXT PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
    space_id TEXT NOT NULL, purpose TEXT NOT NULL, hash BLOB NOT NULL, kept_at REAL NOT NULL,
    vector BLOB NOT NULL, token_count INTEGER NOT NULL, estimated INTEGER NOT NULL,
    sliced INTEGER NOT NULL, PRIMARY KEY (space_id, purpose, hash)
);
"""


@dataclass(frozen=True, slots=True, eq=False)
class KeptVector:
    """A vector (d, float32, norm 1) as kept; `kept_at` is in seconds of the wall clock."""

    space_id: str
    purpose: EmbeddingPurpose
    hash: bytes
    kept_at: float
    vector: Vectors
    text: EmbeddedText


class DiskState:
    """Reads at the start, writes behind; safe to call from one event loop."""

    def __init__(self, folder: Path) -> None:
        """Opens the file. Raises StartError where the folder cannot be used or is held already."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = _opened(folder / FILE_NAME)
        except (OSError, sqlite3.OperationalError) as error:
            raise StartError(
                f"JUSTESSE_EMBEDDER_DATA_FOLDER={folder} cannot be used ({error}); name a folder "
                "that no other embedder writes to, or leave it out",
                exit_code=EXIT_CONFIG,
            ) from error
        self._changes: queue.SimpleQueue[_Change | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="disk-state")
        self._thread.start()

    def costs_of(self, day: int) -> dict[str, float]:
        """Returns what each workspace had cost on a day (days since 1970, UTC); for the start."""
        rows = self._connection.execute("SELECT workspace, cost FROM costs WHERE day = ?", (day,))
        return dict(rows.fetchall())

    def canary_of(self, space_id: str) -> Vectors | None:
        """Returns the canary of the model that made the kept vectors of a space."""
        row = self._connection.execute(
            "SELECT vector FROM canaries WHERE space_id = ?", (space_id,)
        ).fetchone()
        return None if row is None else np.frombuffer(row[0], "<f4")

    def vectors_of(self, space_id: str) -> list[KeptVector]:
        """Returns the kept vectors of a space, oldest first."""
        rows = self._connection.execute(
            "SELECT purpose, hash, kept_at, vector, token_count, estimated, sliced "
            "FROM vectors WHERE space_id = ? ORDER BY kept_at",
            (space_id,),
        ).fetchall()
        return [
            KeptVector(
                space_id,
                EmbeddingPurpose(purpose),
                hash_,
                kept_at,
                np.frombuffer(vector, "<f4"),
                EmbeddedText(tokens, bool(estimated), bool(sliced), cached=True),
            )
            for purpose, hash_, kept_at, vector, tokens, estimated, sliced in rows
        ]

    def begin_space(self, space_id: str, canary: Vectors) -> None:
        """Drops the kept vectors of a space, and notes the canary of the model that follows."""
        blob = canary.astype("<f4").tobytes()

        def begin(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM vectors WHERE space_id = ?", (space_id,))
            connection.execute("INSERT OR REPLACE INTO canaries VALUES (?, ?)", (space_id, blob))

        self._changes.put(begin)

    def put_cost(self, day: int, workspace: str, cost: float) -> None:
        """Notes what a workspace has cost on a day, in place of an earlier amount."""
        self._changes.put(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO costs VALUES (?, ?, ?)", (day, workspace, cost)
            )
        )

    def drop_costs_before(self, day: int) -> None:
        """Forgets earlier days."""
        self._changes.put(
            lambda connection: connection.execute("DELETE FROM costs WHERE day < ?", (day,))
        )

    def keep(self, kept: KeptVector) -> None:
        """Keeps a vector, in place of an earlier one of the same text."""
        text, blob = kept.text, kept.vector.astype("<f4").tobytes()
        row = (kept.space_id, kept.purpose.value, kept.hash, kept.kept_at, blob, text.token_count)
        flags = (int(text.token_count_estimated), int(text.sliced))
        self._changes.put(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, *flags)
            )
        )

    def drop(self, space_id: str, purpose: EmbeddingPurpose, hash_: bytes) -> None:
        """Forgets a vector; its bytes are overwritten."""
        self._changes.put(
            lambda connection: connection.execute(
                "DELETE FROM vectors WHERE space_id = ? AND purpose = ? AND hash = ?",
                (space_id, purpose.value, hash_),
            )
        )

    def drop_vectors_before(self, kept_at: float) -> None:
        """Forgets the vectors of all spaces that were kept earlier; their bytes are overwritten."""
        self._changes.put(
            lambda connection: connection.execute(
                "DELETE FROM vectors WHERE kept_at < ?", (kept_at,)
            )
        )

    def close(self) -> None:
        """Writes what waits, then closes the file; blocks."""
        self._changes.put(None)
        self._thread.join()
        self._connection.close()

    def _write(self) -> None:
        ended = False
        while not ended:
            group, ended = self._next_group()
            try:
                self._connection.execute("BEGIN")
                for change in group:
                    change(self._connection)
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                # Nothing that cannot be had again; what is in memory stays.
                _log.error("state not written", count=len(group), error=str(error))
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _next_group(self) -> tuple[list[_Change], bool]:
        """Waits for a change; returns it with those that came meanwhile, and whether it is over."""
        group: list[_Change] = []
        change = self._changes.get()
        while change is not None:
            group.append(change)
            if len(group) == _LARGEST_GROUP or self._changes.empty():
                return group, False
            change = self._changes.get()
        return group, True


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        aside = path.with_suffix(".damaged")
        path.replace(aside)
        _log.error("damaged state put aside", file=str(aside), error=str(error))
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None, check_same_thread=False)
    try:
        # Another process that opens the file is refused.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON").fetchone()
        connection.executescript(_SCHEMA)
        connection.execute("SELECT COUNT(*) FROM vectors").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
