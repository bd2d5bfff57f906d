"""Conditions: what they mean, and that the store finds exactly what fulfils them."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retriever_svc.documents import Document, MetadataValue
from retriever_svc.embedded.store.connections import open_reader
from retriever_svc.embedded.store.document_rows import find_document
from retriever_svc.embedded.store.filter_queries import passages_that_fulfil
from retriever_svc.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
    fulfils,
)
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.embedded_engines import opened
from tests.fakes.retrieval import upsert


def moment(day: int) -> datetime:
    """Returns midnight of a day of January 2024."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=day - 1)


DOCUMENT = Document(
    "a",
    category="policies",
    version="2",
    metadata={"year": 2023.0, "code": "1", "draft": True, "signed": moment(5), 'odd "name\\': "x"},
    valid_from=moment(2),
    valid_until=moment(9),
)


@pytest.mark.parametrize(
    "condition",
    [
        Equals("category", "policies"),
        OneOf("version", ("1", "2")),
        Equals("metadata.year", 2023.0),
        Equals("metadata.draft", True),
        Equals('metadata.odd "name\\', "x"),
        InRange("metadata.year", at_least=2023.0),
        InRange("metadata.signed", at_least=moment(5), less_than=moment(6)),
        InRange("metadata.code", less_than="2"),
        Equals("superseded", False),
        FieldExists("superseded"),
        FieldExists("valid_at"),
        Equals("valid_at", moment(2)),
        Equals("valid_at", moment(9) - timedelta(microseconds=1)),
        InRange("valid_at", at_least=moment(8)),
        InRange("valid_at", at_least=moment(1), less_than=moment(3)),
        Negation(Equals("metadata.absent", "x")),
        Negation(FieldExists("language")),
    ],
    ids=repr,
)
def test_a_document_fulfils(condition: Filter) -> None:
    """Types decide, bounds are half open, and what is missing fulfils negations."""
    assert fulfils(DOCUMENT, condition)


@pytest.mark.parametrize(
    "condition",
    [
        Equals("metadata.code", 1.0),
        Equals("metadata.draft", 1.0),
        Equals("metadata.year", "2023"),
        Equals("language", ""),
        Equals("category", "Policies"),
        InRange("metadata.year", less_than=2023.0),
        InRange("metadata.code", at_least=0.0),
        InRange("metadata.draft", at_least=0.0),
        FieldExists("metadata.yea"),
        Equals("valid_at", moment(1)),
        Equals("valid_at", moment(9)),
        InRange("valid_at", at_least=moment(9)),
        InRange("valid_at", less_than=moment(2)),
        InRange("valid_at", at_least=moment(5), less_than=moment(5)),
    ],
    ids=repr,
)
def test_a_document_does_not_fulfil(condition: Filter) -> None:
    """A value of another type is unequal and out of range; an empty text is not there."""
    assert not fulfils(DOCUMENT, condition)


TEXTS = ("", "a", "b", "é", "10", 'x"y', "Ω")
# Among them numbers that decimal readers round, both zeros, and neighbours of 0.3.
NUMBERS = (-1.5, 0.0, -0.0, 1.0, 0.1 + 0.2, 0.3, 1e22, 5e-324, 2023.0)
NAMES = ("n", "m", "a.b", "$", 'q"', "é")
MOMENTS = tuple(moment(day) for day in range(1, 6))


def values() -> st.SearchStrategy[MetadataValue]:
    """Returns values of every type."""
    return st.sampled_from((*TEXTS, *NUMBERS, True, False, *MOMENTS))


def ranges(
    field: st.SearchStrategy[str], pool: tuple[MetadataValue, ...]
) -> st.SearchStrategy[Filter]:
    """Returns ranges with one bound or two."""
    bound = st.none() | st.sampled_from(pool)
    drawn = st.builds(InRange, field, bound, bound)
    return drawn.filter(lambda one: one.at_least is not None or one.less_than is not None)


def conditions() -> st.SearchStrategy[Filter]:
    """Returns conditions as the wire lets them through."""
    metadata = st.sampled_from(NAMES).map(lambda name: f"metadata.{name}")
    texts = st.sampled_from(("category", "language", "version"))
    any_field = st.one_of(metadata, texts, st.sampled_from(("superseded", "valid_at")))
    leaves = st.one_of(
        st.builds(Equals, metadata, values()),
        st.builds(OneOf, metadata, st.lists(values(), min_size=1, max_size=4).map(tuple)),
        ranges(metadata, TEXTS),
        ranges(metadata, NUMBERS),
        ranges(metadata, MOMENTS),
        st.builds(Equals, texts, st.sampled_from(TEXTS)),
        st.builds(OneOf, texts, st.lists(st.sampled_from(TEXTS), min_size=1).map(tuple)),
        ranges(texts, TEXTS),
        st.builds(Equals, st.just("superseded"), st.booleans()),
        st.builds(Equals, st.just("valid_at"), st.sampled_from(MOMENTS)),
        ranges(st.just("valid_at"), MOMENTS),
        st.builds(FieldExists, any_field),
    )
    return st.recursive(
        leaves,
        lambda part: st.one_of(
            st.builds(AllOf, st.lists(part, min_size=1, max_size=3).map(tuple)),
            st.builds(AnyOf, st.lists(part, min_size=1, max_size=3).map(tuple)),
            st.builds(Negation, part),
        ),
        max_leaves=6,
    )


def documents(count: int) -> list[Document]:
    """Returns documents that differ in every field."""
    pool: tuple[MetadataValue, ...] = (*TEXTS, *NUMBERS, True, False, *MOMENTS)
    return [
        Document(
            f"d{index}",
            category=TEXTS[index % len(TEXTS)],
            language=("", "fr", "en")[index % 3],
            version=TEXTS[index * 5 % len(TEXTS)],
            metadata={
                name: pool[(index * (3 + place) + place) % len(pool)]
                for place, name in enumerate(NAMES)
                if (index + place) % 4
            },
            valid_from=MOMENTS[index % 5] if index % 2 else None,
            valid_until=MOMENTS[index * 3 % 5] if index % 3 else None,
            superseded=index % 7 == 0,
        )
        for index in range(count)
    ]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sqlite3.Connection, int]]:
    """A reader of a store with the documents, one passage each, and their number."""
    folder: Path = tmp_path_factory.mktemp("filters")

    async def fill() -> None:
        async with opened(folder) as engine:
            await engine.create_workspace("docs", WorkspaceSettings())
            for document in documents(60):
                fields = {name: getattr(document, name) for name in document.__slots__}
                await engine.upsert_document(upsert(fields.pop("external_id"), ["mot"], **fields))

    asyncio.run(fill())
    with closing(open_reader(folder / "store.sqlite3")) as reader:
        workspace_id = reader.execute("SELECT id FROM workspaces").fetchone()[0]
        yield reader, workspace_id


@given(condition=conditions())
@settings(derandomize=True, max_examples=300, deadline=None)
def test_the_store_finds_what_fulfils(
    stored: tuple[sqlite3.Connection, int], condition: Filter
) -> None:
    """SQL and the rule document by document agree on every condition."""
    connection, workspace_id = stored
    expected = [
        row.id
        for index in range(60)
        if (row := find_document(connection, workspace_id, f"d{index}")) is not None
        and fulfils(row.document, condition)
    ]

    found = passages_that_fulfil(connection, workspace_id, condition).tolist()

    owners = connection.execute("SELECT id, document_id FROM passages").fetchall()
    document_of = dict(owners)
    assert [document_of[passage_id] for passage_id in found] == expected


def test_the_most_conditions_a_request_can_hold_are_answered(
    stored: tuple[sqlite3.Connection, int],
) -> None:
    """Wide groups, deep nesting and long value lists stay within the limits of SQLite."""
    connection, workspace_id = stored
    many = OneOf("metadata.n", tuple(float(number) for number in range(1_000)))
    wide: Filter = AnyOf((many,) * 100)
    for _ in range(6):
        wide = AllOf((wide, *(FieldExists("superseded"),) * 99))

    found = passages_that_fulfil(connection, workspace_id, wide)

    assert found.tolist() == passages_that_fulfil(connection, workspace_id, many).tolist()
