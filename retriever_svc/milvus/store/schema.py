"""Brings the store's tables to the schema of this build, forward only, in one transaction.

The database may be shared with the gateway's tables: every table begins with `justesse_`, and the
record of the schema's version has a name of its own.
"""

import uuid
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from chassis.errors import FailedPrecondition
from retriever_svc.milvus.store.layout import STORE

SCHEMA_VERSION = "0002"
VERSION_TABLE = "justesse_retriever_schema_version"
_MIGRATIONS = Path(__file__).parent / "migrations"
# Names the lock under which one process at a time migrates.
_LOCK = 7_215_340_961


def prepare_schema(connection: Connection) -> str:
    """Migrates where needed, inside the caller's transaction; returns the store's identity.

    Raises FailedPrecondition if a newer build wrote the tables; they are left untouched then.
    """
    connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
    found = schema_version(connection)
    if found != SCHEMA_VERSION:
        _migrate(connection, found)
    connection.execute(
        insert(STORE).values(id=1, identity=uuid.uuid4().hex).on_conflict_do_nothing()
    )
    return str(connection.execute(select(STORE.c.identity)).scalar_one())


def schema_version(connection: Connection) -> str:
    """Returns the version of the tables; empty where there are none."""
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return context.get_current_revision() or ""


def _migrate(connection: Connection, found: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found and found not in known:
        raise FailedPrecondition(
            f"the retriever's store has schema version {found}, this build knows versions up to "
            f"{SCHEMA_VERSION}: run the newer build that wrote it, or name another database",
            reason="SCHEMA_TOO_NEW",
        )
    config.attributes["connection"] = connection
    command.upgrade(config, SCHEMA_VERSION)
