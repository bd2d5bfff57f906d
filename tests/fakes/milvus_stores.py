"""One PostgreSQL and one Milvus Lite for a whole session, started when first asked for."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import NullPool, create_engine, text

from retriever_svc.milvus.milvus_settings import MilvusSettings
from retriever_svc.milvus.store.layout import METADATA
from retriever_svc.milvus.store.postgres import PostgresStore
from tests.fakes.milvus_lite import MilvusLite, running_milvus
from tests.fakes.postgres import PostgresServer, running_postgres

_ending = ExitStack()
atexit.register(_ending.close)
_stores: dict[Path, str] = {}
_used_by: dict[str, str] = {}
"""The test that used a database last."""


@cache
def shared_postgres() -> PostgresServer:
    """Returns the server; it ends with the process."""
    return _ending.enter_context(running_postgres())


@cache
def shared_milvus() -> MilvusLite:
    """Returns the server; it ends with the process."""
    return _ending.enter_context(running_milvus())


def store_of(folder: Path) -> str:
    """Returns the URL of a database, empty at first, that is always the same for a folder.

    Databases of earlier tests are emptied and used again, which takes a tenth of the time.
    """
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    if folder not in _stores:
        free = [url for url, user in _used_by.items() if user != test]
        _stores[folder] = _emptied(free[0]) if free else new_store()
        _used_by[_stores[folder]] = test
    return _stores[folder]


def milvus_settings(store_url: str, **others: Any) -> MilvusSettings:
    """Returns settings of an engine over a database and the shared Milvus."""
    chosen = {
        "milvus_uri": shared_milvus().uri,
        "thread_count": 4,
        "repair_pause_s": 0.1,
        **others,
    }
    return MilvusSettings(store_url, **chosen)


def new_store() -> str:
    """Returns the URL of a database of its own, empty but for the tables."""
    url = shared_postgres().new_database()
    store = PostgresStore(url, pool_size=1)
    store.prepare()
    store.close()
    return _emptied(url)


def _emptied(url: str) -> str:
    # Its identity goes too: what Milvus still holds belongs to another store.
    tables = ", ".join(METADATA.tables)
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    return url
