"""Conditions on documents, and rules that drop hits by a named score."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.documents import MetadataValue


@dataclass(frozen=True, slots=True)
class Equals:
    """The field equals the value."""

    field: str
    value: MetadataValue


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of the values."""

    field: str
    values: tuple[MetadataValue, ...]


@dataclass(frozen=True, slots=True)
class InRange:
    """The field lies in [at_least, less_than); at least one bound is not None."""

    field: str
    at_least: MetadataValue | None = None
    less_than: MetadataValue | None = None


@dataclass(frozen=True, slots=True)
class FieldExists:
    """The document has the field."""

    field: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """The part does not hold."""

    filter: Filter


Filter = Equals | OneOf | InRange | FieldExists | AllOf | AnyOf | Negation


@dataclass(frozen=True, slots=True)
class Threshold:
    """Drops hits whose cosine in `space_id` misses the bound; exactly one bound is not None.

    A hit without any cosine, and every hit where no space is named, is judged by the share of the
    question's terms that it holds; None leaves the least share to the retriever. The rule counts
    only for documents that fulfil `condition`, and, where `context_field` is not empty, whose
    metadata field of that name equals (or, with `context_differs`, does not equal) the request's
    context value of that name.
    """

    space_id: str = ""
    min_similarity: float | None = None
    max_distance: float | None = None
    condition: Filter | None = None
    context_field: str = ""
    min_term_share: float | None = None
    context_differs: bool = False
