"""What the store counts of spaces equals what its rows say, whatever was done."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chassis.errors import FailedPrecondition, NotFound
from retriever_svc.documents import PassageVectors
from retriever_svc.embedded.store.sqlite_tables import SqliteTables
from retriever_svc.embedded.store.store import Store
from retriever_svc.embedded.store.workspace_rows import find_workspace, insert_workspace
from retriever_svc.spaces import PassageKey, VectorsPutRequest
from retriever_svc.store.document_removal import delete_document
from retriever_svc.store.rows import WorkspaceRow, rests
from retriever_svc.store.space_changes import drop_space_part, put_vectors, switch_space
from retriever_svc.store.upserts import upsert_document
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.earlier_schemas import set_back
from tests.fakes.retrieval import OTHER_SPACE, SPACE, passage_vectors, upsert

NOW = datetime(2024, 5, 1, tzinfo=UTC)
SPACES = (SPACE, OTHER_SPACE, "test/third@1/4/l2/none")
TEXTS = st.lists(st.sampled_from(["eau", "feu", "air"]), min_size=1, max_size=3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.integers(0, 3), TEXTS, st.sampled_from(["", *SPACES])),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        st.tuples(
            st.just("put"),
            st.sampled_from(SPACES),
            st.sets(st.integers(0, 20), max_size=4),
            st.sets(st.sampled_from(SPACES)),
        ),
        st.tuples(st.just("switch"), st.sampled_from(SPACES)),
        st.tuples(st.just("drop"), st.sampled_from(SPACES), st.integers(1, 3), st.booleans()),
    ),
    max_size=12,
)
Step = tuple[str, *tuple[object, ...]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the workspace `docs`."""
    opened = Store(tmp_path_factory.mktemp("counts") / "store.sqlite3")
    insert_workspace(opened.connection, "docs", WorkspaceSettings(), NOW)
    yield opened
    opened.close()


def block(space_id: str, count: int) -> PassageVectors:
    """Returns vectors for so many passages."""
    return passage_vectors([[1, 0, 0, row] for row in range(count)], space_id)


def take(store: Store, step: Step) -> None:
    """Does one step as the writer would."""
    connection = store.connection
    match step:
        case ("upsert", int(number), list(texts), str(space_id)):
            vectors = [block(space_id, len(texts))] if space_id else []
            upsert_document(
                SqliteTables(connection), upsert(f"d{number}", texts, vectors=vectors), NOW
            )
        case ("delete", int(number)):
            delete_document(SqliteTables(connection), "docs", f"d{number}")
        case ("put", str(space_id), set(chosen), set(left)):
            rows = connection.execute("SELECT id, embedded_text_hash FROM passages").fetchall()
            keys = tuple(PassageKey(*row) for place, row in enumerate(rows) if place in chosen)
            if keys:
                put_vectors(
                    SqliteTables(connection),
                    VectorsPutRequest(
                        "docs",
                        keys,
                        block(space_id, len(keys)),
                        left_space_ids=tuple(map(str, left)),
                    ),
                )
        case ("switch", str(space_id)):
            switch_space(SqliteTables(connection), "docs", space_id, require_complete=False)
        case ("drop", str(space_id), int(limit), bool(leave_waiting)):
            drop_space_part(
                SqliteTables(connection), "docs", space_id, limit, leave_waiting=leave_waiting
            )


def true_counts(store: Store) -> dict[str, tuple[int, int]]:
    """Counts the passages, and those that the preferred space lacks, from the rows alone."""
    preferred = find_workspace(store.connection, "docs").preferred_space_id
    held: dict[str, set[int]] = {}
    for space_id, passage_id in store.connection.execute(
        "SELECT spaces.space_id, passage_id FROM vectors JOIN spaces ON spaces.id = space_key"
    ):
        held.setdefault(space_id, set()).add(passage_id)
    return {
        space_id: (len(ids), len(ids - held.get(preferred, set())))
        for space_id, ids in held.items()
    }


def shown(workspace: WorkspaceRow) -> tuple[str, set[tuple[str, bool]]]:
    """Returns what those who embed for the spaces must know."""
    preferred = workspace.preferred_space_id
    return preferred, {(space.space_id, rests(space, preferred)) for space in workspace.spaces}


@example(
    steps=[
        ("upsert", 0, ["eau", "feu"], SPACE),
        ("upsert", 1, ["air"], OTHER_SPACE),
        ("put", SPACE, {2}, set()),
        ("switch", OTHER_SPACE),
        ("put", OTHER_SPACE, {0, 1}, {SPACE}),
        ("drop", SPACE, 1, False),
        ("delete", 1),
    ]
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_counts_and_versions_follow_the_rows(store: Store, steps: list[Step]) -> None:
    """After every step the counts are true, and the version has grown exactly where the list,
    the preferred space or what rests is another than before."""
    store.begin()
    try:
        for step in steps:
            before = find_workspace(store.connection, "docs")
            with suppress(FailedPrecondition, NotFound):
                take(store, step)
            after = find_workspace(store.connection, "docs")
            told = {s.space_id: (s.passage_count, s.stray_count) for s in after.spaces}
            shown = [
                (
                    w.preferred_space_id,
                    {(s.space_id, rests(s, w.preferred_space_id)) for s in w.spaces},
                )
                for w in (before, after)
            ]

            assert told == true_counts(store), step
            assert after.spaces_version == before.spaces_version + (shown[0] != shown[1]), step
    finally:
        store.rollback()


def test_a_store_of_the_first_schema_is_counted_anew(tmp_path: Path) -> None:
    """The migration keeps every row and fills in what the preferred space lacks."""
    store = Store(tmp_path / "store.sqlite3")
    insert_workspace(store.connection, "docs", WorkspaceSettings(), NOW)
    for number, space_id in enumerate((SPACE, OTHER_SPACE, OTHER_SPACE)):
        one = upsert(f"d{number}", [f"texte {number}"], vectors=[block(space_id, 1)])
        upsert_document(SqliteTables(store.connection), one, NOW)
    set_back(store.connection, "0001")
    store.close()
    migrated = Store(tmp_path / "store.sqlite3")
    spaces = find_workspace(migrated.connection, "docs").spaces
    migrated.close()

    assert [(s.space_id, s.passage_count, s.stray_count, s.canary) for s in spaces] == [
        (SPACE, 1, 0, b""),
        (OTHER_SPACE, 2, 2, b""),
    ]
