"""Brings our tables to the schema of this build, forward only, in one transaction.

The database may be a host system's: every table of ours begins with `justesse_`, the record of the
schema's version too, and no other table is looked at.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from chassis.errors import FailedPrecondition

SCHEMA_VERSION = "0004"
VERSION_TABLE = "justesse_schema_version"
_MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(connection: Connection) -> None:
    """Migrates where needed, inside the caller's transaction.

    Raises FailedPrecondition if a newer build wrote the tables; they are left untouched then.
    """
    found = schema_version(connection)
    if found == SCHEMA_VERSION:
        return
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found and found not in known:
        raise FailedPrecondition(
            f"the gateway's database has schema version {found}, this build knows versions up to "
            f"{SCHEMA_VERSION}: run the newer build that wrote it, or name another database",
            reason="SCHEMA_TOO_NEW",
        )
    config.attributes["connection"] = connection
    command.upgrade(config, SCHEMA_VERSION)


def schema_version(connection: Connection) -> str:
    """Returns the version of our tables; empty where there are none."""
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return context.get_current_revision() or ""
