"""Connections to the store in PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, SQLAlchemyError

from chassis.errors import FailedPrecondition, InvalidArgument, ServiceError, Unavailable
from retriever_svc.milvus.store.schema import prepare_schema

# Counting anew what a space of a hundred million passages holds takes minutes.
_STATEMENT_TIMEOUT_S = 600
_CONNECT_TIMEOUT_S = 5


class PostgresStore:
    """A pool of connections, shared by threads; what is committed is on the disk of the server.

    Every method raises Unavailable (STORE_LOST) where the server does not answer, refuses or is
    lost, and the next call connects anew; InvalidArgument for a value that it cannot hold.
    """

    def __init__(self, url: str, *, pool_size: int) -> None:
        """Opens nothing yet. Raises FailedPrecondition for what is no URL."""
        try:
            self._engine = create_engine(
                url,
                pool_size=pool_size,
                max_overflow=0,
                pool_pre_ping=True,
                json_serializer=lambda value: orjson.dumps(value).decode(),
                connect_args={
                    "connect_timeout": _CONNECT_TIMEOUT_S,
                    "options": f"-c statement_timeout={_STATEMENT_TIMEOUT_S * 1_000} "
                    "-c synchronous_commit=on",
                },
            )
        except (ArgumentError, ValueError) as error:
            # The URL may hold a password.
            raise FailedPrecondition(
                "STORE_URL is no URL of a database, such as postgresql+psycopg://USER@HOST/NAME",
                reason="STORE_URL_WRONG",
            ) from error
        self._snapshots = self._engine.execution_options(isolation_level="REPEATABLE READ")
        self.identity = ""
        """Names the store, and the collections that are derived from it; once it is prepared."""

    def prepare(self) -> None:
        """Brings the tables up to date. Raises FailedPrecondition where a newer build wrote them.

        Several processes may do so at once.
        """
        with self.transaction() as connection:
            self.identity = prepare_schema(connection)

    def close(self) -> None:
        """Closes all connections; none may be in use."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yields a connection in a transaction that writes; commits at the end."""
        with _errors_named(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yields a connection for reading; all statements see one state."""
        with _errors_named(), self._snapshots.connect() as connection:
            yield connection


@contextmanager
def _errors_named() -> Iterator[None]:
    try:
        yield
    except ServiceError:
        raise
    except DataError as error:
        raise InvalidArgument(
            f"the store cannot take a value: {_first_line(error.orig)}", reason="VALUE_UNSTORABLE"
        ) from error
    except DBAPIError as error:
        raise _lost(error.orig) from error
    except SQLAlchemyError as error:
        raise _lost(error) from error


def _lost(error: BaseException | None) -> Unavailable:
    return Unavailable(
        f"the retriever's store is lost: {_first_line(error)}",
        retry_after_s=1.0,
        reason="STORE_LOST",
    )


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
