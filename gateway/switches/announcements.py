"""How a replica learns of what others changed: by asking every few seconds, or by being told."""

from __future__ import annotations

import psycopg
import structlog
from sqlalchemy.engine import URL, make_url

from chassis.clock import Sleep, sleep
from gateway.switches.database_rules import CHANNEL
from gateway.switches.switching import Switching

_LISTEN_AGAIN_S = 5.0

_log = structlog.get_logger("gateway.switches")


async def asked(switching: Switching, *, interval_s: float, sleep: Sleep = sleep) -> None:
    """Follows the others for ever by asking for the version, which is one row."""
    while True:
        await sleep(interval_s)
        await switching.follow()


async def told(switching: Switching, database_url: str, *, sleep: Sleep = sleep) -> None:
    """Follows the others for ever by listening to PostgreSQL, on a connection of its own.

    While that is lost, `asked` goes on.
    """
    while True:
        try:
            await _listen(switching, _connection_string(make_url(database_url)))
        except (psycopg.Error, OSError) as error:
            _log.warning("not told of changed switches; asking goes on", error=str(error).strip())
        await sleep(_LISTEN_AGAIN_S)


async def _listen(switching: Switching, connection_string: str) -> None:
    connection = await psycopg.AsyncConnection.connect(connection_string, autocommit=True)
    async with connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        # What was told before this connection listened.
        await switching.follow()
        async for _ in connection.notifies():
            await switching.follow()


def tells(database_url: str) -> bool:
    """Whether the database tells of changes by itself."""
    return make_url(database_url).get_backend_name() == "postgresql"


def _connection_string(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)
