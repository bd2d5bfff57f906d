"""Hypothesis strategies for the gateway's domain."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from gateway.documents import Document, MetadataValue
from gateway.filters import (
    AllOf,
    AnyOf,
    Equals,
    FieldExists,
    Filter,
    InRange,
    Negation,
    OneOf,
    Threshold,
)

texts = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.text("abcdefg.", min_size=1, max_size=12)
moments = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)
values: st.SearchStrategy[MetadataValue] = st.one_of(
    texts, st.booleans(), st.floats(allow_nan=False, allow_infinity=False), moments
)
facts = st.dictionaries(names, values, max_size=3)

bounds: st.SearchStrategy[Filter] = st.builds(InRange, names, values, st.none() | values)
leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Equals, names, values),
    st.builds(OneOf, names, st.lists(values, min_size=1, max_size=3).map(tuple)),
    st.builds(FieldExists, names),
    bounds,
)
filters: st.SearchStrategy[Filter] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(AllOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Negation, inner),
    ),
    max_leaves=5,
)
cosines = st.floats(-1, 1, width=32)
shares = st.none() | st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
thresholds = st.one_of(
    st.builds(
        Threshold, names, cosines, st.none(), st.none() | filters, names, shares, st.booleans()
    ),
    st.builds(
        Threshold, names, st.none(), cosines, st.none() | filters, names, shares, st.booleans()
    ),
)
documents = st.builds(
    Document,
    external_id=texts,
    title=texts,
    keywords=st.lists(texts, max_size=3).map(tuple),
    source_uri=texts,
    category=texts,
    language=texts,
    metadata=facts,
    version=texts,
    valid_from=st.none() | moments,
    valid_until=st.none() | moments,
    superseded=st.booleans(),
    content_hash=texts,
    chunking_profile=texts,
)
