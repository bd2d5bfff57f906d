"""Brings the store in PostgreSQL up to date and ends: `python -m retriever_svc.milvus.store`.

For a step before the first process of a new version begins; the retriever does the same at its
start.
"""

from contextlib import closing

import structlog

from chassis.errors import FailedPrecondition
from chassis.server import run
from chassis.settings import load_settings
from retriever_svc.milvus.milvus_variables import Engine
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.schema import SCHEMA_VERSION
from retriever_svc.settings import RetrieverSettings

_log = structlog.get_logger("retriever.store")


def main() -> None:
    """Migrates the store of the retriever's settings; exits with 1 where it is lost or newer."""
    settings = load_settings(RetrieverSettings)

    async def migrate() -> None:
        if settings.engine is not Engine.MILVUS:
            raise FailedPrecondition(
                "the engine is not milvus: its store is migrated by the retriever itself"
            )
        with closing(PostgresStore(settings.store_url, pool_size=1)) as store:
            store.prepare()
        _log.info("schema up to date", version=SCHEMA_VERSION)

    run(migrate, log_format=settings.log_format, log_level=settings.log_level)


if __name__ == "__main__":
    main()
