"""What filters mean, through the service: texts, moments, types, absence."""

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from chassis.error_mapping import service_error_from
from chassis.errors import InvalidArgument
from justesse.retriever.v1 import documents_pb2, search_pb2
from tests.fakes.retriever_client import RetrieverClient

Value = str | float | bool | datetime


def value(of: Value) -> documents_pb2.MetadataValue:
    """Returns the message of a value."""
    match of:
        case bool():
            return documents_pb2.MetadataValue(bool_value=of)
        case str():
            return documents_pb2.MetadataValue(string_value=of)
        case datetime():
            stamp = Timestamp()
            stamp.FromDatetime(of)
            return documents_pb2.MetadataValue(time_value=stamp)
        case _:
            return documents_pb2.MetadataValue(number_value=of)


def equals(field: str, of: Value) -> search_pb2.Filter:
    """Returns a comparison."""
    return search_pb2.Filter(equals=search_pb2.Comparison(field=field, value=value(of)))


async def found(retriever: RetrieverClient, condition: search_pb2.Filter) -> list[str]:
    """Returns the ids of the documents a filtered search finds."""
    answer = await retriever.find("navire", filter=condition)
    return sorted(hit.document.external_id for hit in answer.hits)


async def put(retriever: RetrieverClient, external_id: str, **metadata: Value) -> None:
    """Stores a document about a ship with these facts."""
    facts = {name: value(of) for name, of in metadata.items()}
    await retriever.put(external_id, ["un navire"], metadata=facts)


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
async def test_texts_that_look_equal_are_equal(
    retriever: RetrieverClient, stored: str, asked: str
) -> None:
    """Whichever Unicode form document and condition come in: values, names, document fields."""
    there = unicodedata.normalize(stored, "été")  # type: ignore[arg-type]
    here = unicodedata.normalize(asked, "été")  # type: ignore[arg-type]
    facts = {there: value(there)}
    await retriever.put("a", ["un navire"], metadata=facts, category=there, version=there)

    for field in (f"metadata.{here}", "category", "version"):
        assert await found(retriever, equals(field, here)) == ["a"]
    listed = search_pb2.Membership(field="category", values=[value("x"), value(here)])
    assert await found(retriever, search_pb2.Filter(one_of=listed)) == ["a"]
    exists = search_pb2.Filter(field_exists=f"metadata.{here}")
    assert await found(retriever, exists) == ["a"]


async def test_case_and_accents_tell_texts_apart(retriever: RetrieverClient) -> None:
    """Codes that differ in case are different codes; a filter is no search."""
    await put(retriever, "a", code="Été")

    assert await found(retriever, equals("metadata.code", "Été")) == ["a"]
    for other in ("été", "Ete", "Été "):
        assert await found(retriever, equals("metadata.code", other)) == []


async def test_one_name_in_two_spellings_is_refused(retriever: RetrieverClient) -> None:
    """One of the two facts would be lost."""
    facts = {form: value(1.0) for form in ("\u00e9", "e\u0301")}
    with pytest.raises(Exception, match="twice") as caught:
        await retriever.put("a", ["un navire"], metadata=facts)

    assert isinstance(service_error_from(caught.value), InvalidArgument)  # type: ignore[arg-type]


async def test_moments_are_compared_across_time_zones(retriever: RetrieverClient) -> None:
    """They are instants: noon in Paris in summer is ten in UTC."""
    paris = timezone(timedelta(hours=2))
    await put(retriever, "noon", at=datetime(2024, 6, 1, 12, tzinfo=paris))
    await put(retriever, "later", at=datetime(2024, 6, 1, 12, tzinfo=UTC))
    ten = datetime(2024, 6, 1, 10, tzinfo=UTC)
    since_one = search_pb2.Range(
        field="metadata.at", at_least=value(datetime(2024, 6, 1, 13, tzinfo=paris))
    )

    assert await found(retriever, equals("metadata.at", ten)) == ["noon"]
    assert await found(retriever, search_pb2.Filter(range=since_one)) == ["later"]


async def test_types_are_kept_apart(retriever: RetrieverClient) -> None:
    """True, 1 and "1" are three values, alone and in lists."""
    await put(retriever, "truth", x=True)
    await put(retriever, "number", x=1.0)
    await put(retriever, "text", x="1")

    for of, expected in ((True, "truth"), (1.0, "number"), ("1", "text")):
        assert await found(retriever, equals("metadata.x", of)) == [expected]
        listed = search_pb2.Membership(field="metadata.x", values=[value(of)])
        assert await found(retriever, search_pb2.Filter(one_of=listed)) == [expected]
    numbers = search_pb2.Range(field="metadata.x", at_least=value(0.0))
    assert await found(retriever, search_pb2.Filter(range=numbers)) == ["number"]


async def test_a_missing_field_fulfils_negations_alone(retriever: RetrieverClient) -> None:
    """A document without a year is not from 2024; it is not from another year either."""
    await put(retriever, "dated", year=2024.0)
    await put(retriever, "undated")
    this_year = equals("metadata.year", 2024.0)
    other_years = search_pb2.Filter(
        all_of=search_pb2.FilterGroup(
            filters=[
                search_pb2.Filter(field_exists="metadata.year"),
                search_pb2.Filter(negation=this_year),
            ]
        )
    )

    assert await found(retriever, search_pb2.Filter(negation=this_year)) == ["undated"]
    assert await found(retriever, other_years) == []


@pytest.mark.parametrize(
    ("condition", "place"),
    [
        (
            search_pb2.Filter(one_of=search_pb2.Membership(field="category")),
            "filter.one_of.values",
        ),
        (search_pb2.Filter(any_of=search_pb2.FilterGroup()), "filter.any_of.filters"),
        (search_pb2.Filter(), "filter"),
    ],
)
async def test_empty_lists_are_refused(
    retriever: RetrieverClient, condition: search_pb2.Filter, place: str
) -> None:
    """Neither everything nor nothing can be guessed to be meant; the place is named."""
    with pytest.raises(Exception, match=r"filter") as caught:
        await found(retriever, condition)
    error = service_error_from(caught.value)  # type: ignore[arg-type]

    assert isinstance(error, InvalidArgument)
    assert error.violations[0].field == place


@pytest.mark.parametrize("depth", [9, 40])
async def test_deep_nesting_is_refused_by_name(retriever: RetrieverClient, depth: int) -> None:
    """Eight levels are answered; beyond them the caller is told, not cut off."""
    condition = equals("category", "x")
    for _ in range(7):
        condition = search_pb2.Filter(negation=condition)
    await put(retriever, "a")
    assert await found(retriever, condition) == ["a"]

    for _ in range(depth - 8):
        condition = search_pb2.Filter(negation=condition)
    with pytest.raises(Exception, match="nested deeper than 8") as caught:
        await found(retriever, condition)
    assert isinstance(service_error_from(caught.value), InvalidArgument)  # type: ignore[arg-type]
