"""A SQLite file with the switches, as seen by a host system or a person with a SQL shell."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gateway.switches.board import SwitchBoard, SwitchState
from gateway.switches.table import SwitchTable

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
RERANKING = "rag_reranking_enabled"
CANDIDATES = "rag_hybrid_candidate_count"


@dataclass
class SwitchDatabase:
    """The file, which need not be there, edited on connections of its own."""

    path: Path
    seconds: float = 0.0

    def board(self, *, timeout_s: float = 5.0) -> SwitchBoard:
        """Returns a board over the file; its clocks stand at NOW and at `seconds`."""
        table = SwitchTable(f"sqlite+aiosqlite:///{self.path}", timeout_s=timeout_s)
        return SwitchBoard(table, now=lambda: NOW, clock=lambda: self.seconds)

    def run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Runs one statement and returns its rows."""
        with closing(sqlite3.connect(self.path)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def connect(self) -> sqlite3.Connection:
        """Opens a connection in autocommit mode, to be closed by the caller."""
        return sqlite3.connect(self.path, isolation_level=None)

    def set(self, key: str, value: object) -> None:
        """Edits one value behind the gateway's back."""
        self.run("UPDATE pb_ai_config SET config_value = ? WHERE config_key = ?", value, key)

    def rows(self) -> dict[object, object]:
        """Returns all values by key."""
        return {
            row[0]: row[1] for row in self.run("SELECT config_key, config_value FROM pb_ai_config")
        }

    def make_host_table(self, *rows: tuple[str, str, object]) -> None:
        """Makes a host system's table: other columns, no primary key, values of any type."""
        self.path.parent.mkdir(parents=True)
        self.run(
            "CREATE TABLE pb_ai_config (id INTEGER, model_group TEXT, config_key TEXT, "
            "config_value, description TEXT, updated_at TEXT, owner TEXT)"
        )
        for row in rows:
            self.run(
                "INSERT INTO pb_ai_config (model_group, config_key, config_value) VALUES (?, ?, ?)",
                *row,
            )

    def exists(self) -> bool:
        """Tells whether the file is there."""
        return self.path.exists()

    def delete(self) -> None:
        """Deletes the file."""
        self.path.unlink()

    def overwrite(self) -> None:
        """Writes over the file what is no database."""
        self.path.write_bytes(b"no database" * 1000)

    def hide(self) -> None:
        """Moves the file away."""
        self.path.rename(self.path.with_suffix(".away"))

    def bring_back(self) -> None:
        """Moves a hidden file back."""
        self.path.with_suffix(".away").rename(self.path)


def state_of(board: SwitchBoard, key: str) -> SwitchState:
    """Returns one switch."""
    return next(state for state in board.state().switches if state.definition.key == key)
