"""Connections to the gateway's database: SQLite in a file, or PostgreSQL, named by a URL.

Statements are built with SQLAlchemy and hold nothing that only one of the two understands. Moments
are stored as whole milliseconds since 1970 UTC.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection, Table, event, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from chassis.errors import ServiceError, Unavailable
from gateway.database.schema import migrate

_WRITES = "justesse_writes"
_MIGRATION_TRIES = 5


class Database:
    """A pool of connections; belongs to one event loop.

    Every method raises Unavailable (DATABASE_LOST) where the database does not answer within
    `timeout_s` seconds, refuses or is lost; the next call connects anew.
    """

    def __init__(self, url: str, *, timeout_s: float = 10.0, pool_size: int = 5) -> None:
        """Opens nothing yet. Raises ModuleNotFoundError where the URL's driver is missing."""
        parsed = make_url(url)
        sqlite = parsed.get_backend_name() == "sqlite"
        self._timeout_s = timeout_s
        self._opened: WeakSet[Any] = WeakSet()
        self._preparing = asyncio.Lock()
        self._prepared = False
        self._readable: set[str] = set()
        self._file = Path(parsed.database) if sqlite and parsed.database else None
        self._engine = create_async_engine(
            parsed,
            pool_size=pool_size,
            max_overflow=0,
            pool_pre_ping=not sqlite,
            connect_args={"timeout": timeout_s} if sqlite else {},
        )
        if sqlite:
            event.listen(self._engine.sync_engine, "connect", self._sqlite_connected)
            event.listen(self._engine.sync_engine, "begin", _sqlite_begun)

    async def prepare(self) -> None:
        """Makes the file of an SQLite database if need be, and brings our tables up to date.

        Several processes may do so at once, but only one task of a process. Raises
        FailedPrecondition where a newer build wrote the tables.
        """
        if self._file is not None:
            async with self._errors_named():
                await asyncio.to_thread(self._file.parent.mkdir, parents=True, exist_ok=True)
        for left in reversed(range(_MIGRATION_TRIES)):
            try:
                async with self.transaction() as connection:
                    await connection.run_sync(migrate)
            except Unavailable:
                # Where another process has just created the same tables, they are there now.
                if not left:
                    raise
                await asyncio.sleep(0.2)
            else:
                return

    async def prepare_once(self, table: Table) -> None:
        """Prepares at the first contact of whoever keeps something in the table, and never again.

        What is lost later must not come back empty: without keys, doors would open. A table that is
        there and may only be read is enough to go on with. Tasks may call this at the same time;
        they wait for each other.
        """
        async with self._preparing:
            if self._prepared or table.name in self._readable:
                return
            try:
                await self.prepare()
            except Unavailable:
                async with self.reading() as connection:
                    await connection.execute(select(table).limit(1))
                self._readable.add(table.name)
            else:
                self._prepared = True

    async def close(self) -> None:
        """Closes all connections; none may be in use."""
        await self._engine.dispose()
        # A call that is cancelled twice may leave one behind, with its lock on the file.
        for connection in list(self._opened):
            await connection.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """Yields a connection in a transaction that writes; commits at the end, durably."""
        async with self._errors_named():
            connecting = self._engine.connect()
            async with connecting as connection:
                writing = await connection.execution_options(**{_WRITES: True})
                async with writing.begin():
                    yield writing

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Yields a connection for reading; it never waits for those that write."""
        async with self._errors_named(), self._engine.connect() as connection:
            yield connection

    def _sqlite_connected(self, connection: Any, _record: object) -> None:
        self._opened.add(connection.driver_connection)
        # The driver would begin transactions late, and only before some statements.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @asynccontextmanager
    async def _errors_named(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout_s):
                yield
        except ServiceError:
            raise
        except TimeoutError as error:
            raise _lost(f"it did not answer within {self._timeout_s:g} s") from error
        except DBAPIError as error:
            raise _lost(_first_line(error.orig)) from error
        except (SQLAlchemyError, OSError) as error:
            raise _lost(_first_line(error)) from error


def _sqlite_begun(connection: Connection) -> None:
    # A transaction that begins by reading could not go on to write once another one has written.
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lost(why: str) -> Unavailable:
    return Unavailable(f"the gateway's database is lost: {why}", reason="DATABASE_LOST")


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
