"""Brings the database to the schema of this build, forward only, in one transaction."""

import sqlite3
import uuid
from pathlib import Path

from chassis.errors import FailedPrecondition

SCHEMA_VERSION = "0006"
_MIGRATIONS = Path(__file__).parent / "migrations"


def prepare_schema(connection: sqlite3.Connection) -> None:
    """Migrates the database where needed.

    Raises FailedPrecondition if a newer build wrote it; it is left untouched then.
    """
    found = schema_version(connection)
    if found == SCHEMA_VERSION:
        return
    _migrate(connection, found)
    if schema_version(connection) != SCHEMA_VERSION:
        raise RuntimeError(f"migrations end at {schema_version(connection)}, not {SCHEMA_VERSION}")


def schema_version(connection: sqlite3.Connection) -> str:
    """Returns the schema version of the database; empty where it has none."""
    exists = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
    ).fetchone()
    if not exists:
        return ""
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""


def open_epoch(connection: sqlite3.Connection) -> tuple[str, int]:
    """Begins a new epoch; returns the identity of the store and the epoch's number.

    A writer that finds a later epoch than its own has lost the folder to another process.
    """
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "INSERT INTO store (id, identity, epoch) VALUES (1, ?, 1) "
        "ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1",
        (uuid.uuid4().hex,),
    )
    identity, epoch = connection.execute("SELECT identity, epoch FROM store").fetchone()
    connection.execute("COMMIT")
    return str(identity), int(epoch)


def _migrate(connection: sqlite3.Connection, found: str) -> None:
    # Imported here: an up-to-date store starts without SQLAlchemy and Alembic.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import StaticPool

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found and found not in known:
        raise FailedPrecondition(
            f"the store has schema version {found}, this build knows versions up to "
            f"{SCHEMA_VERSION}: run the newer build that wrote it, or restore an older backup",
            reason="SCHEMA_TOO_NEW",
        )
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    # The driver would begin transactions late and leave DDL outside of them.
    event.listen(engine, "begin", lambda begun: begun.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.connect() as migrating:
        config.attributes["connection"] = migrating
        command.upgrade(config, SCHEMA_VERSION)
