"""The table pb_ai_config, which may be a host system's: created if absent, never altered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import Column, DateTime, MetaData, String, Table, Text, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from gateway.switches.values import DEFINITIONS, MODEL_GROUP, written

TABLE = Table(
    "pb_ai_config",
    MetaData(),
    Column("model_group", String(64), primary_key=True),
    Column("config_key", String(128), primary_key=True),
    Column("config_value", Text, nullable=False),
    Column("description", Text),
    Column("updated_at", DateTime, nullable=False, server_default=func.current_timestamp()),
)


class SwitchTableError(Exception):
    """The table cannot be read or written; the message says why in one line."""


class SwitchTable:
    """Reads and writes the rows of model group rag_enhancement.

    Every call uses a connection of its own, so that it sees what others wrote and outlives a lost
    database, and gives up after `timeout_s`. All methods raise SwitchTableError.
    """

    def __init__(self, database_url: str, *, timeout_s: float = 10.0) -> None:
        url = make_url(database_url)
        sqlite = url.get_backend_name() == "sqlite"
        self._timeout_s = timeout_s
        self._file = Path(url.database) if sqlite and url.database else None
        self._engine = create_async_engine(
            url,
            poolclass=NullPool,
            # A thread that waits for a lock cannot be called back.
            connect_args={"timeout": timeout_s} if sqlite else {},
        )

    async def prepare(self) -> None:
        """Creates the table if it is absent and inserts missing rows with their defaults.

        Rows that are there stay as they are, whatever they hold, and so do the columns of a table
        that somebody else made.
        """
        async with self._transaction(create_file=True) as connection:
            await connection.run_sync(TABLE.create, checkfirst=True)
            present = {key for key, _ in await _rows(connection)}
            for key in DEFINITIONS.keys() - present:
                await _insert(connection, key, written(DEFINITIONS[key].default))

    async def read(self) -> list[tuple[str, object]]:
        """Returns key and value of every row, as the driver gives them."""
        async with self._transaction() as connection:
            return await _rows(connection)

    async def write(self, key: str, text: str) -> None:
        """Sets one value and the time of the change."""
        async with self._transaction() as connection:
            outcome = await connection.execute(
                TABLE.update()
                .where(TABLE.c.model_group == MODEL_GROUP, TABLE.c.config_key == key)
                .values(config_value=text, updated_at=func.current_timestamp())
            )
            if outcome.rowcount == 0:
                await _insert(connection, key, text)

    @asynccontextmanager
    async def _transaction(self, *, create_file: bool = False) -> AsyncIterator[AsyncConnection]:
        try:
            if self._file is not None:
                await asyncio.to_thread(_require_file, self._file, create_file)
            async with asyncio.timeout(self._timeout_s), self._engine.begin() as connection:
                yield connection
        except TimeoutError as error:
            raise SwitchTableError(
                f"the database did not answer within {self._timeout_s:g} s"
            ) from error
        except DBAPIError as error:
            raise SwitchTableError(_first_line(error.orig)) from error
        except (SQLAlchemyError, OSError) as error:
            raise SwitchTableError(_first_line(error)) from error


async def _rows(connection: AsyncConnection) -> list[tuple[str, object]]:
    rows = await connection.execute(
        select(TABLE.c.config_key, TABLE.c.config_value).where(TABLE.c.model_group == MODEL_GROUP)
    )
    return [(str(key), value) for key, value in rows]


async def _insert(connection: AsyncConnection, key: str, text: str) -> None:
    await connection.execute(
        TABLE.insert().values(
            model_group=MODEL_GROUP,
            config_key=key,
            config_value=text,
            description=DEFINITIONS[key].description,
            updated_at=func.current_timestamp(),
        )
    )


def _require_file(file: Path, create: bool) -> None:
    """Keeps SQLite from making an empty database in place of one that was lost."""
    if create:
        file.parent.mkdir(parents=True, exist_ok=True)
    elif not file.exists():
        raise FileNotFoundError(f"the database file {file} does not exist")


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
