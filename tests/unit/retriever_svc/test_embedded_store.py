"""The SQLite store: schema, settings that durability rests on, counts, purging."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from hypothesis import given, settings
from hypothesis import strategies as st

from chassis.errors import FailedPrecondition, ResourceExhausted
from retriever_svc.documents import DocumentUpsert, PassageVectors
from retriever_svc.embedded.store import schema
from retriever_svc.embedded.store.deletions import purge_retired_rows
from retriever_svc.embedded.store.faults import service_error_from
from retriever_svc.embedded.store.sqlite_tables import SqliteTables
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import (
    find_workspace,
    insert_workspace,
    retire_workspace,
)
from retriever_svc.store.document_removal import delete_document
from retriever_svc.store.upserts import upsert_document
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.retrieval import OTHER_SPACE, SPACE, passage_vectors, unit_rows, upsert

NOW = datetime(2024, 5, 1, tzinfo=UTC)
TABLES = ("documents", "passages", "spaces", "vectors", "windows", "removals", "workspaces")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with the workspace `docs`."""
    opened = Store(tmp_path / "store.sqlite3")
    insert_workspace(opened.connection, "docs", WorkspaceSettings(), NOW)
    yield opened
    opened.close()


def pragma(connection: sqlite3.Connection, name: str) -> object:
    """Returns the value of a setting of SQLite."""
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def windowed(rows: list[list[float]]) -> PassageVectors:
    """Returns vectors with one window each."""
    given = passage_vectors(rows)
    counts = np.ones(len(rows), np.int64)
    return PassageVectors(SPACE, given.positions, given.vectors, counts, given.vectors)


def test_the_writer_is_durable_and_the_readers_only_read(store: Store) -> None:
    """What durability rests on is set, and readers can neither write nor checkpoint."""
    expected = {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "foreign_keys": 1,
        "page_size": 16384,
        "wal_autocheckpoint": 0,
        "mmap_size": 0,
    }
    reader = store.open_reader()

    assert {name: pragma(store.connection, name) for name in expected} == expected
    assert pragma(reader, "wal_autocheckpoint") == 0
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM workspaces")
    reader.close()


def test_the_schema_is_that_of_the_last_migration(store: Store) -> None:
    """The version the build names is the head of the one line of migrations."""
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))

    assert ScriptDirectory.from_config(config).get_heads() == [schema.SCHEMA_VERSION]
    assert schema.schema_version(store.connection) == schema.SCHEMA_VERSION


def test_a_store_of_a_newer_build_is_refused_untouched(store: Store) -> None:
    """The message names both versions; nothing is migrated backwards."""
    store.connection.execute("UPDATE alembic_version SET version_num = '9999'")
    store.close()
    with pytest.raises(FailedPrecondition, match=rf"9999.*{schema.SCHEMA_VERSION}"):
        Store(store.path)
    with sqlite3.connect(store.path) as connection:
        version = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    connection.close()

    assert version == ("9999",)


def test_a_writer_that_lost_the_store_writes_no_more(store: Store) -> None:
    """Another process that opened the store fences the first one out."""
    other = Store(store.path)
    with pytest.raises(FailedPrecondition, match="another retriever"):
        store.begin()
    other.begin()
    other.commit()
    other.close()

    assert not store.connection.in_transaction


def test_identity_stays_and_the_epoch_grows(store: Store) -> None:
    """Indexes of this store are recognised after a restart."""
    store.close()
    again = Store(store.path)
    again.close()

    assert again.identity == store.identity


def test_a_full_disk_is_told_and_leaves_everything(store: Store) -> None:
    """The error says that nothing was changed; what was stored can be read."""
    upsert_document(SqliteTables(store.connection), upsert("a", ["eau"]), NOW)
    pages = pragma(store.connection, "page_count")
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    store.begin()
    with pytest.raises(sqlite3.OperationalError, match="full") as caught:
        upsert_document(SqliteTables(store.connection), upsert("b", ["feu " * 20_000]), NOW)
    store.rollback()
    error = service_error_from(caught.value)
    ids = store.connection.execute("SELECT external_id FROM documents").fetchall()

    assert isinstance(error, ResourceExhausted)
    assert error.reason == "DISK_FULL"
    assert ids == [("a",)]


def test_purging_removes_every_row_in_small_steps(store: Store) -> None:
    """Nothing of a deleted workspace stays, and nothing of another one goes."""
    connection = store.connection
    insert_workspace(connection, "kept", WorkspaceSettings(), NOW)
    for name in ("a", "b", "c"):
        rows = unit_rows(3, 4, seed=1).tolist()
        for workspace in ("docs", "kept"):
            upsert_document(
                SqliteTables(connection),
                upsert(name, ["x", "y", "z"], workspace=workspace, vectors=[windowed(rows)]),
                NOW,
            )
    delete_document(SqliteTables(connection), "docs", "c")
    before = counted(connection)
    retire_workspace(connection, "docs")
    steps = 0
    while purge_retired_rows(connection, 2):
        steps += 1
    after = counted(connection)

    assert steps > 5
    assert before["passages"] == 15
    assert after == {
        "documents": 3,
        "passages": 9,
        "spaces": 1,
        "vectors": 9,
        "windows": 9,
        "removals": 0,
        "workspaces": 1,
    }


def counted(connection: sqlite3.Connection) -> dict[str, int]:
    """Returns how many rows each table has."""
    return {
        table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in TABLES
    }


texts = st.lists(st.sampled_from(["eau", "feu", "air", "terre"]), max_size=5)


@st.composite
def upserts(draw: st.DrawFn) -> DocumentUpsert:
    """Draws an upsert of one of three documents with vectors in up to two spaces."""
    given = draw(texts)
    vectors = []
    for space in (SPACE, OTHER_SPACE):
        positions = [n for n in range(len(given)) if draw(st.booleans())]
        if positions:
            rows = unit_rows(len(positions), 4, seed=draw(st.integers(0, 3))).tolist()
            vectors.append(passage_vectors(rows, space, positions))
    title = draw(st.sampled_from(["", "titre"]))
    hashes = [f"{title}+{text}" for text in given]
    name = draw(st.sampled_from(["a", "b", "c"]))
    return upsert(name, given, title=title, hashes=hashes, vectors=vectors)


@settings(max_examples=40)
@given(changes=st.lists(st.one_of(upserts(), st.sampled_from(["a", "b", "c"])), max_size=12))
def test_counts_always_equal_the_rows(
    tmp_path_factory: pytest.TempPathFactory, changes: list[DocumentUpsert | str]
) -> None:
    """After any upserts and deletions the kept counts are those of the rows."""
    store = Store(tmp_path_factory.mktemp("store") / "store.sqlite3")
    connection = store.connection
    insert_workspace(connection, "docs", WorkspaceSettings(), NOW)
    for change in changes:
        if isinstance(change, str):
            delete_document(SqliteTables(connection), "docs", change)
        else:
            receipt, _ = upsert_document(SqliteTables(connection), change, NOW)
            assert receipt.passage_count == len(change.passages)
            assert receipt.awaiting_passage_count == awaiting(connection, change)
    workspace = find_workspace(connection, "docs")
    rows = counted(connection)
    by_space = dict(
        connection.execute("SELECT space_key, COUNT(*) FROM vectors GROUP BY space_key").fetchall()
    )
    store.close()

    assert (workspace.document_count, workspace.passage_count) == (
        rows["documents"],
        rows["passages"],
    )
    assert {space.key: space.passage_count for space in workspace.spaces} == by_space


def awaiting(connection: sqlite3.Connection, change: DocumentUpsert) -> int:
    """Counts the document's passages without a vector from the rows."""
    (count,) = connection.execute(
        "SELECT COUNT(*) FROM passages JOIN documents ON documents.id = document_id "
        "WHERE external_id = ? AND passages.id NOT IN (SELECT passage_id FROM vectors)",
        (change.document.external_id,),
    ).fetchone()
    return int(count)
