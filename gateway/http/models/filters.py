"""Conditions and thresholds in JSON."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field, model_validator

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
from gateway.http.models.values import FactBody, FiniteNumber, RequestBody, fact_from, to_fact

_FIELD = "metadata.NAME, category, language, version, valid_at or superseded"


class ComparisonBody(RequestBody):
    """Compares a field with a value."""

    field: str = Field(description=_FIELD)
    value: FactBody


class MembershipBody(RequestBody):
    """Compares a field with several values."""

    field: str = Field(description=_FIELD)
    values: list[FactBody] = Field(description="1 to 1,000 values")


class RangeBody(RequestBody):
    """Bounds a field."""

    field: str = Field(description=_FIELD)
    at_least: FactBody | None = Field(default=None, description="smallest value that is in")
    less_than: FactBody | None = Field(default=None, description="smallest value that is out")


class FilterGroupBody(RequestBody):
    """Groups conditions."""

    filters: list[FilterBody] = Field(description="1 to 100 parts, nested at most 8 deep")


class FilterBody(RequestBody):
    """One condition on a document: exactly one of the fields."""

    equals: ComparisonBody | None = None
    one_of: MembershipBody | None = None
    range: RangeBody | None = None
    field_exists: str | None = None
    all_of: FilterGroupBody | None = None
    any_of: FilterGroupBody | None = None
    negation: FilterBody | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> FilterBody:
        given = [name for name in _READERS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(_READERS)}, not {len(given)}")
        return self


class ThresholdBody(RequestBody):
    """Drops hits by the cosine in a space, or by the terms they hold where they have none."""

    space_id: str = Field(default="", description="empty: min_term_share alone judges every hit")
    min_similarity: FiniteNumber | None = Field(
        default=None, description="smallest cosine that stays"
    )
    max_distance: FiniteNumber | None = Field(
        default=None, description="largest 1 - cosine that stays"
    )
    condition: FilterBody | None = Field(default=None, description="only for such documents")
    context_field: str = Field(
        default="", description="only where metadata and context of this name are equal"
    )
    min_term_share: FiniteNumber | None = Field(
        default=None,
        description="smallest share of the question's terms, 0 to 1, that a hit without any "
        "cosine must hold; 0.25 if absent",
    )
    context_differs: bool = Field(
        default=False, description="only where the two differ, or one is missing"
    )


def filter_from(body: FilterBody) -> Filter:
    """Reads a condition."""
    return next(
        read(given) for name, read in _READERS.items() if (given := getattr(body, name)) is not None
    )


def to_filter_body(condition: Filter) -> FilterBody:
    """Writes a condition."""
    match condition:
        case Equals(field, value):
            return FilterBody(equals=ComparisonBody(field=field, value=to_fact(value)))
        case OneOf(field, values):
            facts = [to_fact(value) for value in values]
            return FilterBody(one_of=MembershipBody(field=field, values=facts))
        case InRange(field, at_least, less_than):
            return FilterBody(
                range=RangeBody(
                    field=field,
                    at_least=None if at_least is None else to_fact(at_least),
                    less_than=None if less_than is None else to_fact(less_than),
                )
            )
        case FieldExists(field):
            return FilterBody(field_exists=field)
        case AllOf(filters):
            return FilterBody(all_of=FilterGroupBody(filters=list(map(to_filter_body, filters))))
        case AnyOf(filters):
            return FilterBody(any_of=FilterGroupBody(filters=list(map(to_filter_body, filters))))
        case Negation(part):
            return FilterBody(negation=to_filter_body(part))


def threshold_from(body: ThresholdBody) -> Threshold:
    """Reads a threshold."""
    return Threshold(
        space_id=body.space_id,
        min_similarity=body.min_similarity,
        max_distance=body.max_distance,
        condition=None if body.condition is None else filter_from(body.condition),
        context_field=body.context_field,
        min_term_share=body.min_term_share,
        context_differs=body.context_differs,
    )


def _equals_from(body: ComparisonBody) -> Filter:
    return Equals(body.field, fact_from(body.value))


def _one_of_from(body: MembershipBody) -> Filter:
    return OneOf(body.field, tuple(fact_from(value) for value in body.values))


def _range_from(body: RangeBody) -> Filter:
    return InRange(
        body.field,
        None if body.at_least is None else fact_from(body.at_least),
        None if body.less_than is None else fact_from(body.less_than),
    )


def _all_of_from(body: FilterGroupBody) -> Filter:
    return AllOf(tuple(filter_from(part) for part in body.filters))


def _any_of_from(body: FilterGroupBody) -> Filter:
    return AnyOf(tuple(filter_from(part) for part in body.filters))


def _negation_from(body: FilterBody) -> Filter:
    return Negation(filter_from(body))


_READERS: dict[str, Callable[..., Filter]] = {
    "equals": _equals_from,
    "one_of": _one_of_from,
    "range": _range_from,
    "field_exists": FieldExists,
    "all_of": _all_of_from,
    "any_of": _any_of_from,
    "negation": _negation_from,
}
