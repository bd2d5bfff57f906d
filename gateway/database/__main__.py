"""Brings the gateway's database up to date and ends: `python -m gateway.database`.

For a step before the first process of a new version begins; the gateway does the same at its start.
"""

import structlog

from chassis.server import run
from chassis.settings import load_settings
from gateway.database.database import Database
from gateway.database.schema import SCHEMA_VERSION
from gateway.settings import GatewaySettings

_log = structlog.get_logger("gateway.database")


def main() -> None:
    """Migrates the database of the gateway's settings; exits with 1 where it is lost or newer."""
    settings = load_settings(GatewaySettings)

    async def migrate() -> None:
        database = Database(settings.database_url)
        try:
            await database.prepare()
        finally:
            await database.close()
        _log.info("schema up to date", version=SCHEMA_VERSION)

    run(migrate, log_format=settings.log_format, log_level=settings.log_level)


if __name__ == "__main__":
    main()
