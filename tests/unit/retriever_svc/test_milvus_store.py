"""The store in PostgreSQL is made, shared, and too new; and what it does not take."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from chassis.errors import FailedPrecondition, InvalidArgument, Unavailable
from retriever_svc.documents import Document, Passage
from retriever_svc.filters import Equals
from retriever_svc.milvus.accepted_documents import check_document
from retriever_svc.milvus.collections.collection_shape import MOST_FACETS
from retriever_svc.milvus.collections.condition_fields import MOST_METADATA_FIELDS, entry_of
from retriever_svc.milvus.store import outbox
from retriever_svc.milvus.store.document_rows import count_documents, find_document
from retriever_svc.milvus.store.layout import METADATA
from retriever_svc.milvus.store.passage_rows import read_passages
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.postgres_tables import PostgresTables
from retriever_svc.milvus.store.retired_workspaces import delete_some_rows, is_retired
from retriever_svc.milvus.store.schema import VERSION_TABLE
from retriever_svc.milvus.store.vector_rows import delete_vectors, spaces_of_passages
from retriever_svc.milvus.store.workspace_rows import insert_workspace, retire_workspace
from retriever_svc.store.stored_vectors import StoredVector
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.milvus_stores import new_store, shared_postgres
from tests.fakes.retrieval import SPACE, upsert

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    """A prepared store."""
    with closing(PostgresStore(new_store(), pool_size=2)) as opened:
        opened.prepare()
        yield opened


def test_the_migrations_make_the_tables_that_statements_expect(store: PostgresStore) -> None:
    """No column, type or index differs between the two descriptions."""
    with store.snapshot() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert list(compare_metadata(context, METADATA)) == []


def test_replicas_may_prepare_one_store_at_once() -> None:
    """Each finds the tables there, and all call it by one name."""
    url = shared_postgres().new_database()
    stores = [PostgresStore(url, pool_size=1) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(PostgresStore.prepare, stores))
    names = {one.identity for one in stores}
    for one in stores:
        one.close()

    assert len(names) == 1
    assert names != {""}


def test_a_store_of_a_newer_build_is_left_alone(store: PostgresStore) -> None:
    """Nobody guesses what a later schema means."""
    with store.transaction() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(FailedPrecondition, match="9999"):
        store.prepare()


def test_a_lost_store_is_named() -> None:
    """In words, without a traceback, and for another try."""
    with (
        closing(PostgresStore("postgresql+psycopg://u@127.0.0.1:1/none", pool_size=1)) as lost,
        pytest.raises(Unavailable, match="store is lost") as caught,
    ):
        lost.prepare()
    assert caught.value.retry_after_s is not None


@pytest.mark.parametrize("url", ["nonsense", "postgresql+psycopg://user:word@host:port/name"])
def test_what_is_no_url_is_told_without_its_password(url: str) -> None:
    """A mistake of an operator, in words."""
    with pytest.raises(FailedPrecondition, match="STORE_URL") as caught:
        PostgresStore(url, pool_size=1)
    assert "word" not in str(caught.value)


def test_a_deleted_workspace_ends_in_steps(store: PostgresStore) -> None:
    """Its name is free at once; the work stays in mind until the last row is gone."""
    with store.transaction() as connection:
        gone = insert_workspace(connection, "docs", WorkspaceSettings(), NOW)
        outbox.note(connection, gone.id, ())
        retire_workspace(connection, "docs")
        again = insert_workspace(connection, "docs", WorkspaceSettings(), NOW)
        assert is_retired(connection, gone.id)
        assert not is_retired(connection, again.id)
        delete_some_rows(connection, gone.id)
        assert outbox.oldest_entries(connection) == {}
        left = connection.execute(text("SELECT id FROM justesse_retriever_workspaces")).scalars()
        assert list(left) == [again.id]


@pytest.mark.parametrize(
    "change",
    [
        upsert("a\x00", ["eau"]),
        upsert("a", ["eau\x00"]),
        upsert("a", ["eau"], title="\x00"),
        upsert("a", ["eau"], metadata={"x\x00": 1.0}),
        upsert("a", ["eau"], metadata={"x": "\x00"}),
    ],
)
def test_a_character_that_postgresql_cannot_store_is_refused(change: object) -> None:
    """With its place, before anything is written."""
    with pytest.raises(InvalidArgument, match="U\\+0000"):
        check_document(change)  # type: ignore[arg-type]


def test_all_fields_of_the_fullest_document_have_their_place() -> None:
    """One more is refused; as many as are taken fit into Milvus's arrays."""
    fields = {f"f{number}": float(number) for number in range(MOST_METADATA_FIELDS)}
    full = upsert("a", ["eau"], metadata=fields, category="c", language="fr", version="1")
    check_document(full)
    spaces = list(range(100))
    assert len(entry_of(1, full.document, spaces)["facets"]) <= MOST_FACETS

    with pytest.raises(InvalidArgument, match="metadata fields"):
        check_document(upsert("a", ["eau"], metadata={**fields, "more": True}))


def test_texts_that_no_store_can_hold_are_no_loss_of_the_store(store: PostgresStore) -> None:
    """Whoever asks for one is told so, and not to come again."""
    with pytest.raises(InvalidArgument, match="value"), store.snapshot() as connection:
        find_document(connection, 1, "a\x00")
    condition = Equals("metadata.x", "\x00")
    with pytest.raises(InvalidArgument, match="value"), store.snapshot() as connection:
        count_documents(connection, 1, condition)


def test_a_vector_that_came_and_went_in_one_change_was_never_there(store: PostgresStore) -> None:
    """And one that goes and comes again is the new one; nothing is written before it must be."""
    with store.transaction() as connection:
        workspace = insert_workspace(connection, "docs", WorkspaceSettings(), NOW)
        tables = PostgresTables(connection)
        document = tables.insert_document(
            workspace.id, Document("a"), passage_count=2, seq=1, now=NOW
        )
        passages = [Passage(0, "eau"), Passage(1, "feu")]
        one, other = tables.insert_passages(workspace.id, document, passages, 1)
        space = tables.insert_space(workspace.id, SPACE, 1)
        for passage_id in (one, other):
            tables.insert_vector(workspace.id, passage_id, StoredVector(space, b"old."), 1)
        tables.delete_vector(workspace.id, one, space)
        assert tables.spaces_of_passages(workspace.id, [one, other]) == {other: {space}}
        tables.delete_vector(workspace.id, other, space)
        tables.insert_vector(workspace.id, other, StoredVector(space, b"new."), 2)
        assert [held.vector for held in tables.vectors_of_passage(workspace.id, other)] == [b"new."]
        assert tables.passages_of_space(workspace.id, space, 10) == [other]


def test_a_statement_takes_more_passages_than_it_may_have_parameters(store: PostgresStore) -> None:
    """A document of 20,000 passages in four spaces is replaced in one change."""
    many = range(70_000)
    with store.transaction() as connection:
        delete_vectors(connection, [(1, one) for one in many])
        assert read_passages(connection, 1, many) == {}
        assert spaces_of_passages(connection, 1, many) == {}
        outbox.note(
            connection, insert_workspace(connection, "w", WorkspaceSettings(), NOW).id, many
        )
