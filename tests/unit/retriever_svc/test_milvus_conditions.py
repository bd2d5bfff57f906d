"""Conditions over PostgreSQL and Milvus: both find exactly what fulfils them."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retriever_svc.documents import Document, MetadataValue
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
from retriever_svc.milvus.clients.milvus_connection import MilvusConnection
from retriever_svc.milvus.collections.condition_fields import ordered_text
from retriever_svc.milvus.collections.condition_texts import condition_text
from retriever_svc.milvus.collections.workspace_collections import WorkspaceCollections
from retriever_svc.milvus.milvus_engine import MilvusEngine
from retriever_svc.milvus.store.postgres import PostgresStore
from retriever_svc.milvus.store.workspace_rows import find_workspace
from retriever_svc.searches import SearchMode
from retriever_svc.workspaces import WorkspaceSettings
from tests.fakes.milvus_stores import milvus_settings, new_store
from tests.fakes.retrieval import request, upsert
from tests.unit.retriever_svc.test_filters import conditions, documents

COUNT = 60
DOCUMENTS = documents(COUNT)


@dataclass(frozen=True, slots=True)
class Stored:
    """An engine with the documents, one passage each, and what Milvus holds of them."""

    engine: MilvusEngine
    milvus: MilvusConnection
    collection: str
    owners: dict[int, str]
    """The document of each passage."""

    def listed(self, condition: Filter) -> list[str]:
        """Returns the documents that PostgreSQL finds."""
        find = self.engine.find_documents("docs", condition, page_size=COUNT, after=None)
        page = asyncio.run(find)
        assert page.total_count == len(page.documents)
        return [one.document.external_id for one in page.documents]

    def held(self, condition: Filter) -> list[str]:
        """Returns the documents that Milvus finds, before anybody looks whether they fulfil it."""
        ids = self.milvus.ids(self.collection, condition_text(condition), limit=COUNT)
        return sorted(self.owners[one] for one in ids)

    def sought(self, condition: Filter) -> list[str]:
        """Returns the documents of a search's hits."""
        search = request("mot", mode=SearchMode.LEXICAL, candidate_count=COUNT, filter=condition)
        result = asyncio.run(self.engine.search_passages(search))
        return sorted(hit.document.external_id for hit in result.hits)


@pytest.fixture(scope="module")
def stored() -> Iterator[Stored]:
    """The documents, in both."""
    settings = milvus_settings(new_store())
    with (
        closing(MilvusEngine(settings)) as engine,
        closing(PostgresStore(settings.store_url, pool_size=1)) as store,
        closing(
            MilvusConnection(settings.milvus_uri, token="", database="", timeout_s=10)
        ) as milvus,
    ):
        owners: dict[int, str] = {}

        async def fill() -> None:
            await engine.create_workspace("docs", WorkspaceSettings())
            for document in DOCUMENTS:
                fields = {name: getattr(document, name) for name in document.__slots__}
                external_id = fields.pop("external_id")
                await engine.upsert_document(upsert(external_id, ["mot"], **fields))
                back = await engine.get_document("docs", external_id, include_passages=True)
                owners[back.passages[0].passage_id] = external_id

        asyncio.run(fill())
        store.prepare()
        with store.snapshot() as connection:
            workspace = find_workspace(connection, "docs")
        names = WorkspaceCollections(milvus, store.identity, settings)
        yield Stored(engine, milvus, names.terms_name(workspace.id), owners)


@given(condition=conditions())
@settings(derandomize=True, max_examples=80, deadline=None)
def test_both_find_what_fulfils(stored: Stored, condition: Filter) -> None:
    """SQL, the expression of Milvus, and the rule document by document agree on every condition."""
    expected = sorted(one.external_id for one in DOCUMENTS if fulfils(one, condition))

    assert stored.held(condition) == expected
    assert stored.sought(condition) == expected
    assert stored.listed(condition) == expected


@pytest.mark.parametrize(
    "condition",
    [
        Equals("category", 1.0),
        InRange("metadata.n", at_least=1.0, less_than="2"),
        Negation(InRange("metadata.n", at_least=1.0, less_than="2")),
        Equals("valid_at", "2024"),
        Negation(Equals("valid_at", "2024")),
        OneOf("metadata.n", (0.0, -0.0)),
        AllOf(()),
        AnyOf(()),
        Equals('metadata.odd "] or true or ["', "x"),
        Equals("metadata.n", '" or id > 0 or "'),
    ],
    ids=repr,
)
def test_odd_conditions_mean_what_they_say(stored: Stored, condition: Filter) -> None:
    """Types that do not fit, empty groups, and texts that look like expressions."""
    expected = sorted(one.external_id for one in DOCUMENTS if fulfils(one, condition))

    assert stored.held(condition) == stored.sought(condition) == expected


def test_the_most_conditions_a_request_can_hold_are_answered(stored: Stored) -> None:
    """Wide groups, deep nesting and long value lists are neither refused nor misread."""
    many = OneOf("metadata.n", tuple(float(number) for number in range(1_000)))
    wide: Filter = AnyOf((many,) * 20)
    for _ in range(6):
        wide = AllOf((wide, *(FieldExists("superseded"),) * 99))

    assert stored.held(wide) == stored.held(many) == stored.listed(many)


ORDERED = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.booleans(),
    st.datetimes(timezones=st.just(UTC)),
)


@given(one=ORDERED, other=ORDERED)
@settings(derandomize=True, max_examples=500, deadline=None)
def test_texts_of_bounds_are_ordered_as_values_are(
    one: MetadataValue, other: MetadataValue
) -> None:
    """Two values of a type: equal texts exactly for equal values, and the same one first."""
    if type(one) is not type(other):
        return
    assert (ordered_text(one) == ordered_text(other)) is (one == other)
    # The types agree, which the type checker cannot see.
    assert (ordered_text(one) < ordered_text(other)) is (one < other)  # type: ignore[operator]


@given(condition=conditions())
@settings(derandomize=True, max_examples=100, deadline=None)
def test_an_expression_holds_nothing_a_user_wrote(condition: Filter) -> None:
    """Field names and values are numbers and hexadecimal digits there."""
    letters = set(condition_text(condition)) - set(
        '0123456789abcdefghijklmnopqrstuvwxyz_ ()[]<>=",'
    )

    assert letters == set()


async def test_a_document_that_ends_before_it_begins_is_valid_at_no_moment() -> None:
    """As for the rule itself, also where a range covers everything."""
    first, end = datetime(2024, 1, 9, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
    backwards = Document("a", valid_from=first, valid_until=end)
    with closing(await asyncio.to_thread(MilvusEngine, milvus_settings(new_store()))) as engine:
        await engine.create_workspace("docs", WorkspaceSettings())
        await engine.upsert_document(upsert("a", ["mot"], valid_from=first, valid_until=end))
        for condition in (
            InRange("valid_at", at_least=datetime(2000, 1, 1, tzinfo=UTC)),
            Equals("valid_at", datetime(2024, 1, 5, tzinfo=UTC)),
        ):
            assert not fulfils(backwards, condition)
            search = request("mot", mode=SearchMode.LEXICAL, filter=condition)
            assert (await engine.search_passages(search)).hits == ()
