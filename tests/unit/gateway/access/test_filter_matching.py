"""The gateway and the retriever agree on which documents fulfil a condition."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import filters
from gateway.documents import Document, MetadataValue
from gateway.filter_matching import fulfils
from retriever_svc import documents as retriever_documents
from retriever_svc import filters as retriever_filters

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
MOMENTS = [NOW + timedelta(days=days) for days in range(-2, 3)]
VALUES: list[MetadataValue] = ["a", "b", "", "1", 1.0, 0.0, -0.0, True, False, *MOMENTS]
FIELDS = ["metadata.x", "metadata.y", "category", "language", "version", "superseded", "valid_at"]

values = st.sampled_from(VALUES)
leaves: st.SearchStrategy[filters.Filter] = st.sampled_from(FIELDS).flatmap(
    lambda field: st.one_of(
        st.builds(filters.Equals, st.just(field), values),
        st.builds(filters.OneOf, st.just(field), st.lists(values, max_size=3).map(tuple)),
        st.builds(filters.FieldExists, st.just(field)),
        st.builds(filters.InRange, st.just(field), values | st.none(), values | st.none()),
    )
)
conditions: st.SearchStrategy[filters.Filter] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(filters.AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(filters.AnyOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(filters.Negation, inner),
    ),
    max_leaves=4,
)
documents = st.builds(
    Document,
    st.just("a.md"),
    category=st.sampled_from(["", "a", "b"]),
    language=st.sampled_from(["", "fr", "a"]),
    version=st.sampled_from(["", "1"]),
    metadata=st.dictionaries(st.sampled_from(["x", "y"]), values),
    valid_from=st.sampled_from([None, *MOMENTS]),
    valid_until=st.sampled_from([None, *MOMENTS]),
    superseded=st.booleans(),
)


@given(documents, conditions)
def test_they_agree_on_every_condition(document: Document, condition: filters.Filter) -> None:
    """What a list or a search shows is what can be read, and nothing else."""
    stored = retriever_documents.Document(
        external_id=document.external_id,
        category=document.category,
        language=document.language,
        metadata=document.metadata,
        version=document.version,
        valid_from=document.valid_from,
        valid_until=document.valid_until,
        superseded=document.superseded,
    )

    expected = retriever_filters.fulfils(stored, _of_retriever(condition))

    assert fulfils(document, condition) == expected


def _of_retriever(condition: filters.Filter) -> retriever_filters.Filter:
    match condition:
        case filters.AllOf(parts):
            return retriever_filters.AllOf(tuple(map(_of_retriever, parts)))
        case filters.AnyOf(parts):
            return retriever_filters.AnyOf(tuple(map(_of_retriever, parts)))
        case filters.Negation(part):
            return retriever_filters.Negation(_of_retriever(part))
        case filters.Equals(field, value):
            return retriever_filters.Equals(field, value)
        case filters.OneOf(field, listed):
            return retriever_filters.OneOf(field, listed)
        case filters.FieldExists(field):
            return retriever_filters.FieldExists(field)
        case filters.InRange(field, at_least, less_than):
            return retriever_filters.InRange(field, at_least, less_than)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_count_in_whichever_form_they_come(form: str) -> None:
    """The retriever composes texts before it keeps or compares them; a caller may not."""
    assert form in {"NFC", "NFD"}
    text = unicodedata.normalize("NFC" if form == "NFD" else "NFD", "été")
    name = unicodedata.normalize(form, "clé")  # type: ignore[arg-type]
    document = Document("a.md", category=text, metadata={name: text})

    for field in ("category", f"metadata.{unicodedata.normalize('NFC', 'clé')}"):
        wanted = unicodedata.normalize(form, "été")  # type: ignore[arg-type]
        assert fulfils(document, filters.Equals(field, wanted))
        assert fulfils(document, filters.OneOf(field, ("x", wanted)))
        assert fulfils(document, filters.InRange(field, at_least=wanted))


def test_a_field_that_no_document_has_fulfils_nothing() -> None:
    """It is left to the retriever to refuse it."""
    document = Document("a.md", title="a")

    assert not fulfils(document, filters.Equals("title", "a"))
    assert not fulfils(document, filters.FieldExists("title"))
