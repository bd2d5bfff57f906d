"""Why a filter keeps a document out: both values, in words."""

from datetime import UTC, datetime

import pytest

from retriever_svc.documents import Document
from retriever_svc.filter_misses import miss_in_words
from retriever_svc.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
)

SPRING = datetime(2024, 3, 20, tzinfo=UTC)
SUMMER = datetime(2024, 6, 20, tzinfo=UTC)
DOCUMENT = Document(
    "a.md",
    category="policies",
    metadata={"year": 2021.0, "draft": True},
    valid_from=SPRING,
    valid_until=SUMMER,
    superseded=True,
)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            Equals("category", "orders"),
            "wants category 'orders', and the document has 'policies'",
        ),
        (
            OneOf("metadata.year", (2022.0, 2023.0)),
            "wants metadata.year one of 2022, 2023, and the document has 2021",
        ),
        (
            OneOf("metadata.year", tuple(float(year) for year in range(2001, 2009))),
            "wants metadata.year one of 2001, 2002, 2003, 2004, 2005 and 3 more, and the document "
            "has 2021",
        ),
        (
            InRange("metadata.year", at_least=2022.0, less_than=2024.0),
            "wants metadata.year at least 2022 and less than 2024, and the document has 2021",
        ),
        (FieldExists("metadata.week"), "wants any metadata.week, and the document has none"),
        (
            Equals("valid_at", SUMMER),
            "wants valid_at 2024-06-20T00:00:00+00:00, and the document has validity from "
            "2024-03-20T00:00:00+00:00 until 2024-06-20T00:00:00+00:00",
        ),
        (Equals("superseded", False), "wants superseded false, and the document has true"),
        (
            Negation(Equals("metadata.draft", True)),
            "excludes metadata.draft true, and the document has true",
        ),
        (
            AllOf((Equals("category", "policies"), Equals("metadata.year", 2022.0))),
            "wants metadata.year 2022, and the document has 2021",
        ),
        (
            AnyOf((Equals("category", "orders"), Equals("language", "fr"))),
            "wants category 'orders', and the document has 'policies'; or wants language 'fr', "
            "and the document has none",
        ),
        (
            Negation(AllOf((Equals("category", "policies"),))),
            "excludes what fulfils all 1 parts of a group, as the document does",
        ),
    ],
)
def test_the_missed_part_is_named_with_both_values(condition: Filter, words: str) -> None:
    """Of a group, the first part that is missed; of alternatives, each."""
    assert miss_in_words(DOCUMENT, condition) == words


def test_what_is_said_is_bounded() -> None:
    """Neither a long value nor many alternatives make a long sentence."""
    long = Document("b.md", category="x" * 5000)
    many = AnyOf(tuple(Equals("category", "y" * 5000) for _ in range(100)))
    words = miss_in_words(long, many)

    assert words.endswith("; or wants one of 97 more parts")
    assert len(words) < 1000
